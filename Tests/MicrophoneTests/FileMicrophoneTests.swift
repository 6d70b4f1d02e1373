import Testing

@testable import Audio
@testable import Core

@Suite("Files and tones as microphones") struct FileMicrophoneTests {
    @Test("a fast file returns its samples and ends")
    func fastFileEnds() throws {
        let folder = try Folder()
        let input = ramp(5_001)
        let path = try folder.write(wav(input), to: "talk.wav")
        let microphone = try #require(FileMicrophone(uri: "file+fast:\(path)"))
        #expect(microphone.name == "file+fast:\(path)")
        #expect(!microphone.isRealTime)
        let opened = try microphone.open()
        #expect(try samples(of: opened) == input)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: opened.maximumBlock)
        defer { buffer.deallocate() }
        #expect(try opened.read(into: buffer) == .ended)
    }

    @Test("a real-time file is followed by silence")
    func silenceAfterFile() throws {
        let folder = try Folder()
        let input = ramp(1_700)
        let microphone = try #require(FileMicrophone(uri: "file:\(folder.write(wav(input), to: "talk.wav"))"))
        #expect(microphone.isRealTime)
        let output = try samples(of: microphone.open(), blocks: 3)
        #expect(output == input + [Int16](repeating: 0, count: 3_100))
    }

    @Test("opening a missing file fails")
    func missingFile() throws {
        let microphone = try #require(FileMicrophone(uri: "file:no such file.wav"))
        #expect(try deviceError { _ = try microphone.open() }.code == .missing)
    }

    @Test("addresses of other microphones are rejected", arguments: ["alsa:null", "file", "files:x", "tone:440"])
    func otherAddresses(uri: String) {
        #expect(FileMicrophone(uri: uri) == nil)
    }

    @Test("a tone is a sine with peaks at -20 dBFS", arguments: [1.0, 440, 7_999])
    func toneIsSine(frequency: Double) throws {
        let microphone = try #require(try ToneMicrophone(uri: "tone+fast:\(frequency)"))
        let output = try samples(of: microphone.open(), blocks: 20)
        #expect(output.count == 32_000)
        let ideal = sine(frequency, rate: 16_000, count: 32_000, amplitude: 0.1)
        #expect(signalToNoise(output, ideal: ideal, edge: 0) > 60)
    }

    @Test(
        "an invalid frequency is rejected",
        arguments: ["tone:", "tone:0", "tone:-3", "tone:8000", "tone:nan", "tone:a"])
    func invalidFrequencies(uri: String) throws {
        #expect(try deviceError { _ = try ToneMicrophone(uri: uri) }.code == .unsupported)
    }

    @Test("blocks are due at their ends, and rounding errors do not accumulate")
    func metronomeKeepsTime() {
        var metronome = Metronome(start: 1_000)
        #expect(metronome.end(ofNext: 1_600) == 100_001_000)
        for _ in 0..<16_000 { _ = metronome.end(ofNext: 7) }
        #expect(metronome.end(ofNext: 1_600) == 7_200_001_000)
    }
}
