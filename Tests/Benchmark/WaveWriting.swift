import FoundationEssentials
import Glibc

/// Writes 16 kHz mono samples as a WAV file.
func writeWave(_ samples: [Int16], to path: String) throws {
    let raw = "\(path).raw"
    try samples.withUnsafeBytes { try Data($0).write(to: URL(filePath: raw)) }
    try sox(["-D", "-t", "raw", "-r", "16000", "-e", "signed", "-b", "16", "-c", "1", raw, path])
    _ = unlink(raw)
}

/// Writes silence as a 16 kHz mono WAV file.
func writeSilence(seconds: Double, to path: String) throws {
    try sox(["-n", "-r", "16000", "-c", "1", "-b", "16", path, "trim", "0", "\(seconds)"])
}
