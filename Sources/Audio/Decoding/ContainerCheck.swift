/// What an audio file's header says about the length of its audio, against what the file holds.
///
/// libsndfile believes a header that says too little: a recording that a power cut ended loses its last seconds, or
/// everything where the size was never written.
struct ContainerCheck: Equatable {
    /// Bytes of audio that the header promises.
    var claimed: UInt64

    /// Bytes of audio that are there.
    var held: UInt64

    /// Corrections for the reader.
    var patches: [ByteSource.Patch] = []

    /// Where another file begins behind the audio and its chunks: joined byte by byte.
    var following: Int64?

    /// Whether the header's length is one that programs write before they know it.
    var isPlaceholder: Bool { (claimed > 0x7fff_0000 && claimed > held) || (claimed == 0 && held > 0) }

    /// Checks a file; nil where it is of another format, or so broken that only libsndfile can tell.
    ///
    /// - Parameter read: gives bytes at an offset, fewer where the file ends. Any bytes are survived.
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
