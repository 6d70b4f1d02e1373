/// Compares the audio length in a file's header with the file.
///
/// libsndfile trusts a header that is too short: a recording that ended in a power cut loses its last seconds, or everything
/// if the size was never written.
struct ContainerCheck: Equatable {
    /// The audio bytes according to the header.
    var claimed: UInt64

    /// The audio bytes in the file.
    var held: UInt64

    /// Header corrections for the reader.
    var patches: [ByteSource.Patch] = []

    /// The offset of another file that is concatenated to this one.
    var following: Int64?

    /// Whether the header has a placeholder that programs write before they know the length.
    var isPlaceholder: Bool { (claimed > 0x7fff_0000 && claimed > held) || (claimed == 0 && held > 0) }

    /// Checks a file; nil for another format, or a file so broken that only libsndfile can tell.
    ///
    /// - Parameter read: returns bytes at an offset, fewer at the end of the file. Any bytes are safe.
    init?(length: Int64, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
        guard let walk = ChunkWalk(length: length, read: read), let audio = walk.findAudio() else { return nil }
        let rest = UInt64(length - audio.start)
        let isStale = audio.size < rest && !walk.isTail(after: audio)
        claimed = audio.size
        held = isStale ? rest : min(audio.size, rest)
        following = isStale ? nil : walk.followingFile(after: audio)
        if claimed != held { patches = walk.corrections(of: audio, held: held) }
    }
}
