import Glibc
import Testing

@testable import Audio
@testable import Core

/// Tests in which libasound's own plugins simulate sound cards.
@Suite("ALSA microphones") struct AlsaMicrophoneTests {
    /// Makes libasound read the tests' configuration once, before any test opens a device.
    private static let folder: Result<Folder, any Error> = Result {
        let folder = try Folder()
        var configuration = "</usr/share/alsa/alsa.conf>\n"
        for (name, bytes) in sources {
            let file = try folder.write(bytes, to: "\(name).raw")
            // The device `pair` has exactly two channels.
            let slave = name == "balanced" ? "pair" : "null"
            configuration += """
                pcm.\(name) { type file slave.pcm \(slave) file /dev/null infile "\(file)" format raw }

                """
        }
        configuration += """
            pcm.absent { type hw card 31 }
            pcm.silent { type null }
            pcm.pair {
                type multi
                slaves.a { pcm null channels 2 }
                bindings.0 { slave a channel 0 }
                bindings.1 { slave a channel 1 }
            }
            """
        setenv("ALSA_CONFIG_PATH", try folder.write(Array(configuration.utf8), to: "asound.conf"), 1)
        // Remove the folder at exit, because a static value is never freed.
        atexit { try? AlsaMicrophoneTests.folder.get().remove() }
        return folder
    }

    private static let sources: [String: [UInt8]] = [
        "exact": littleEndian(ramp(20_000)),
        "stereo": littleEndian(
            interleaved(sine(440, rate: 48_000, count: 96_000), channels: 2).map { Int16(($0 * 32_767).rounded()) }),
        "balanced": littleEndian(
            sine(440, rate: 16_000, count: 32_000).flatMap { (sample: Float) -> [Int16] in
                let value = Int16((sample * 32_767).rounded())
                return [value, -value]
            }),
    ]

    private func open(_ device: String, rate: Int = 16_000, channels: Int = 1) throws -> AlsaCapture {
        _ = try Self.folder.get()
        return try AlsaMicrophone(device: device, rate: rate, channels: channels, unpaced: true).openCapture()
    }

    @Test("samples are returned unchanged, followed by silence")
    func exact() throws {
        let microphone = try open("exact")
        let output = try samples(of: microphone, blocks: 15)
        #expect(output == ramp(20_000) + [Int16](repeating: 0, count: 4_000))
    }

    @Test("48 kHz stereo is converted, and both channels are kept if requested")
    func convertsStereo() throws {
        let microphone = try open("stereo", rate: 48_000, channels: 2)
        #expect(microphone.configuration.rate == 48_000)
        #expect(microphone.configuration.channels == 2 && microphone.channels == 2)
        let both = try samples(of: microphone, blocks: 22)
        #expect(stride(from: 0, to: both.count, by: 2).allSatisfy { both[$0] == both[$0 + 1] })
        let output = stride(from: 0, to: both.count, by: 2).map { both[$0] }
        #expect(output.count >= 31_000)
        #expect(signalToNoise(output, ideal: sine(440, rate: 16_000, count: 31_000)) > 60)
    }

    @Test("if the channels of a stereo input cancel each other out, one of them is used, and this is reported")
    func balanced() throws {
        let microphone = try open("balanced")
        #expect(microphone.configuration.channels == 2 && microphone.channels == 1)
        let output = try samples(of: microphone, blocks: 19)
        // Both channels are equally loud, so either may be used.
        let ideal = sine(440, rate: 16_000, count: output.count)
        #expect(output.count == 30_400)
        #expect(max(signalToNoise(output, ideal: ideal), signalToNoise(output, ideal: ideal.map { -$0 })) > 40)
        #expect(microphone.channelsCancel)
    }

    @Test("the null device delivers silence in blocks of 100 ms and has a buffer of 2 s")
    func nullIsSilent() throws {
        let microphone = try open("null")
        #expect(try samples(of: microphone, blocks: 4) == [Int16](repeating: 0, count: 6_400))
        let configuration = microphone.configuration
        #expect(configuration.sampleFormat.rawValue == "S16_LE")
        #expect(configuration.periodFrames == 1_600)
        #expect(configuration.bufferFrames / 16 == 2_000)
        #expect(!configuration.hasCard)
    }

    @Test(
        "a missing device is reported",
        arguments: ["absent", "hw:CARD=Nobody", "plughw:CARD=Nobody", "nobody"])
    func missing(device: String) throws {
        let error = try deviceError { _ = try open(device) }
        #expect(error.code == .missing)
        #expect(error.exitStatus == 3)
        #expect(error.message.contains("not found; ") && !error.message.contains("\n"))
    }

    @Test("ALSA addresses are parsed; others are rejected")
    func addresses() throws {
        #expect(AlsaMicrophone(uri: "alsa:plughw:CARD=Mic")?.name == "alsa:plughw:CARD=Mic")
        #expect(AlsaMicrophone(uri: "alsa:null")?.isRealTime == true)
        #expect(AlsaMicrophone(uri: "alsa+fast:null")?.isRealTime == false)
        #expect(AlsaMicrophone(uri: "file:null") == nil)
    }

    @Test("the capture devices are those in the kernel's list")
    func devices() throws {
        _ = try Self.folder.get()
        let devices = try captureDevices()
        var found = glob_t()
        defer { globfree(&found) }
        let count = glob("/proc/asound/card*/pcm*c", 0, nil, &found) == 0 ? Int(found.gl_pathc) : 0
        #expect(devices.count == count)
        #expect(devices.allSatisfy { $0.name.hasPrefix("plughw:CARD=") })
    }

    @Test("the process that uses a busy device is found in /proc")
    func findsProcess() throws {
        let folder = try Folder()
        let root = folder.path
        for part in ["asound", "asound/card1", "asound/card1/pcm0c", "asound/card1/pcm0c/sub0", "4711"] {
            mkdir("\(root)/\(part)", 0o700)
        }
        defer {
            for part in ["4711", "asound/card1/pcm0c/sub0", "asound/card1/pcm0c", "asound/card1", "asound"] {
                rmdir("\(root)/\(part)")
            }
        }
        let status = try folder.write(
            Array("state: RUNNING\nowner_pid   : 4711\n".utf8), to: "asound/card1/pcm0c/sub0/status")
        #expect(SoundUsers.capturing(root: root) == ["process 4711"])
        let comm = try folder.write(Array("arecord\n".utf8), to: "4711/comm")
        #expect(SoundUsers.capturing(root: root) == ["arecord (process 4711)"])
        unlink(comm)
        _ = try folder.write(Array("closed\n".utf8), to: "asound/card1/pcm0c/sub0/status")
        #expect(SoundUsers.capturing(root: root).isEmpty)
        unlink(status)
    }

    @Test(
        "every sample format is decoded",
        arguments: [
            (.s16, [0x00, 0x80, 0x00, 0x40, 0xff, 0xff]),
            (.s32, [0, 0, 0, 0x80, 0, 0, 0, 0x40, 0, 0, 0xff, 0xff]),
            (.s24Packed, [0, 0, 0x80, 0, 0, 0x40, 0, 0xff, 0xff]),
            // The fourth byte is noise.
            (.s24, [0, 0, 0x80, 0x55, 0, 0, 0x40, 0xaa, 0, 0xff, 0xff, 0x00]),
            (.float, [0, 0, 0x80, 0xbf, 0, 0, 0, 0x3f, 0, 0, 0, 0xb8]),
        ] as [(SampleFormat, [UInt8])])
    func decodes(format: SampleFormat, bytes: [UInt8]) {
        var samples = [Float](repeating: 9, count: 3)
        samples.withUnsafeMutableBufferPointer { samples in
            bytes.withUnsafeBytes { format.decode($0, into: samples) }
        }
        #expect(samples == [-1, 0.5, Float(-1) / 32_768] as [Float])
    }
}

@Suite("Pacing of devices without a clock") struct PacerTests {
    private let block = 1_600

    @Test("a device that runs ahead is slowed to real time")
    func slowsDown() {
        var pacer = Pacer(rate: 16_000, start: 0, isClocked: false)
        var now: Int64 = 0
        for _ in 0..<100 { now += pacer.pause(after: block, at: now) }
        #expect(now == 10_000_000_000)
    }

    @Test("no block is delayed by much more than its length")
    func noLongPause() {
        var pacer = Pacer(rate: 16_000, start: 0, isClocked: false)
        var now: Int64 = 0
        for _ in 0..<100 {
            let pause = pacer.pause(after: block, at: now)
            #expect(pause <= 125_000_000)
            now += pause
        }
    }

    @Test("a fast sound card is never slowed down", arguments: [true, false])
    func neverSlowsCards(isClocked: Bool) {
        var pacer = Pacer(rate: 16_000, start: 0, isClocked: isClocked)
        // One second ahead after 2,000 s: 500 ppm.
        let pauses = (1...40_000).map { pacer.pause(after: block, at: Int64(Double($0) * 1e8 / 1.0005)) }
        #expect(pauses.allSatisfy { $0 == 0 })
    }
}
