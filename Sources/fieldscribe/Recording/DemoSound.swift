import Audio
import Core
import Glibc
import System

/// The demo's microphone: a person who reads from a novel, with pauses, played by libasound's `file` plugin.
struct DemoSound: Sendable {
    /// The name of the PCM device in the ALSA configuration that the demo writes.
    static let device = "fieldscribe_demo"

    private static let speech = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb"
    private static let utterances = ["0870", "0880", "0890", "0920", "0930"]
    private static let pause = SamplePosition.rate * 4 / 5

    /// The reference transcript, in lower case, without punctuation, and spelled as engines write it.
    let referenceText: String

    /// A configuration file that defines the device and includes the system's configuration.
    let alsaConfiguration: String
    let length: SamplePosition

    /// Writes the sound and the ALSA configuration to a folder.
    ///
    /// - Throws: `DeviceError` with `missing` if Debian's package pocketsphinx-testdata is not installed.
    init(in directory: String) throws {
        var samples = [Int16](repeating: 0, count: Self.pause)
        for utterance in Self.utterances {
            samples += try Self.samples("\(Self.speech)-\(utterance).wav")
            samples += [Int16](repeating: 0, count: Self.pause)
        }
        referenceText = try Self.transcription()
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

    /// Returns the reference transcript. The file has lines such as `<s> he was not </s> (NAME-0880)`.
    private static func transcription() throws -> String {
        let list = try content(ofFile: "\(folder(of: speech))/transcription", limit: 1 << 16)
        let lines = String(decoding: list, as: UTF8.self).split(separator: "\n")
        return utterances.compactMap { number in
            lines.first { $0.hasSuffix("-\(number))") }.map { line in
                line.split(separator: " ").filter { !$0.hasPrefix("<") && !$0.hasPrefix("(") }
                    .map { $0 == "mister" ? "mr" : $0 }.joined(separator: " ")
            }
        }.joined(separator: " ")
    }

    private static func samples(_ path: String) throws -> [Int16] {
        guard access(path, R_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(path): the demo's speech is not installed; install pocketsphinx-testdata")
        }
        return try AudioFileReader(path: path).samples()
    }
}
