import Core
import FileMicrophone
import Glibc
import Platform

/// What the demo's microphone hears: people reading from a novel, with pauses, as a PCM of libasound's `file` plugin.
struct DemoSound: Sendable {
    /// The PCM's name in the configuration that is written for it.
    static let device = "fieldscribe_demo"

    private static let speech = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb"
    private static let utterances = ["0870", "0880", "0890", "0920", "0930"]
    private static let pause = SamplePosition.rate * 4 / 5

    /// A file that defines the device, and all that the system's own configuration defines.
    let alsaConfiguration: String
    let length: SamplePosition

    /// - Throws: `DeviceError` with `missing` where Debian's package pocketsphinx-testdata is not installed.
    init(in directory: String) throws {
        var samples = [Int16](repeating: 0, count: Self.pause)
        for utterance in Self.utterances {
            samples += try Self.read("\(Self.speech)-\(utterance).wav")
            samples += [Int16](repeating: 0, count: Self.pause)
        }
        length = SamplePosition(Int64(samples.count))
        let sound = "\(directory)/microphone.raw"
        try durableReplace(path: sound, with: samples.withUnsafeBytes { Array($0) })
        alsaConfiguration = "\(directory)/asound.conf"
        try durableReplace(
            path: alsaConfiguration,
            with: """
                </usr/share/alsa/alsa.conf>
                pcm.\(Self.device) { type file slave.pcm null file /dev/null infile "\(sound)" format raw }

                """)
    }

    private static func read(_ path: String) throws -> [Int16] {
        guard access(path, R_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(path): the demo's speech is not there; install pocketsphinx-testdata")
        }
        let reader = try AudioFileReader(path: path)
        var samples: [Int16] = []
        var buffer = [Int16](repeating: 0, count: SamplePosition.rate)
        while true {
            let count = try buffer.withUnsafeMutableBufferPointer { try reader.read(into: $0) }
            if count == 0 { return samples }
            samples += buffer[..<count]
        }
    }
}
