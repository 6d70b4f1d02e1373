import Glibc
import Testing

@testable import System

/// How ffmpeg creates a container, and how its damage can be detected.
struct ContainerRecipe: CustomTestStringConvertible, Sendable {
    /// How an incomplete file can be detected.
    enum CompletenessSign: Sendable {
        /// By the length in its header.
        case length
        /// By a missing end marker.
        case end
        /// Not at all: a truncated file is also valid.
        case nothing
        /// It cannot be read at all if its end is missing.
        case unreadable
    }

    let testDescription: String
    let fileExtension: String
    let arguments: [String]
    let completenessSign: CompletenessSign
    /// Whether two concatenated files can be read as one recording.
    let canConcatenate: Bool

    init(
        _ name: String, _ fileExtension: String, _ arguments: String, _ completenessSign: CompletenessSign,
        canConcatenate: Bool = true
    ) {
        testDescription = name
        self.fileExtension = fileExtension
        self.arguments = arguments.split(separator: " ").map(String.init)
        self.completenessSign = completenessSign
        self.canConcatenate = canConcatenate
    }

    static let all = [
        ContainerRecipe("WAV", "wav", "-c:a pcm_s16le", .length),
        ContainerRecipe("WAV of IMA ADPCM", "wav", "-c:a adpcm_ima_wav", .length),
        ContainerRecipe("WAV of floats", "wav", "-c:a pcm_f32le", .length),
        ContainerRecipe("AIFF", "aiff", "-c:a pcm_s16be", .length),
        ContainerRecipe("CAF of ALAC", "caf", "-c:a alac", .unreadable),
        ContainerRecipe("FLAC", "flac", "-c:a flac", .length),
        ContainerRecipe("Ogg Vorbis", "ogg", "-c:a libvorbis", .end),
        ContainerRecipe("Ogg Opus", "opus", "-c:a libopus", .end),
        ContainerRecipe("Ogg FLAC", "oga", "-c:a flac", .end),
        ContainerRecipe("Ogg Speex", "spx", "-c:a libspeex", .end),
        ContainerRecipe("MP3", "mp3", "-c:a libmp3lame -b:a 64k", .length),
        ContainerRecipe("MP3 with a variable rate", "mp3", "-c:a libmp3lame -q:a 4", .length),
        ContainerRecipe("MP3 without a frame count", "mp3", "-c:a libmp3lame -b:a 64k -write_xing 0", .nothing),
        ContainerRecipe("M4A", "m4a", "-c:a aac -movflags +faststart", .length),
        ContainerRecipe("M4A of ALAC", "m4a", "-c:a alac -movflags +faststart", .length),
        ContainerRecipe(
            "MP4 in fragments", "mp4", "-c:a aac -movflags frag_keyframe+empty_moov -frag_duration 1000000", .end),
        ContainerRecipe("WebM", "webm", "-c:a libopus", .length),
        ContainerRecipe("Matroska of PCM", "mka", "-c:a pcm_s16le", .length),
        ContainerRecipe("WMA", "wma", "-c:a wmav2", .length),
        ContainerRecipe("AAC in ADTS", "aac", "-c:a aac", .nothing),
        ContainerRecipe("AC-3", "ac3", "-c:a ac3", .nothing),
        ContainerRecipe("WavPack", "wv", "-c:a wavpack", .length),
        ContainerRecipe("TTA", "tta", "-c:a tta", .length),
        ContainerRecipe("MPEG transport stream", "ts", "-c:a aac", .nothing),
        ContainerRecipe("AVI", "avi", "-c:a pcm_s16le", .length, canConcatenate: false),
    ]

    /// Encodes a WAV and returns the path of the result.
    func encode(_ wav: String, in folder: Folder) throws -> String {
        let path = "\(folder.path)/encoded.\(fileExtension)"
        let child = try ChildProcess(
            "/usr/bin/ffmpeg",
            arguments: ["-nostdin", "-loglevel", "error", "-y", "-i", wav] + arguments + [path])
        // wait: a timeout of ten minutes
        try #require(try child.exitStatus(timeoutSeconds: 600) == 0, "ffmpeg cannot write \(testDescription)")
        return path
    }
}
