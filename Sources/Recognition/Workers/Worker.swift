import Core

/// A loaded engine that reads for a pool: a process, or a recognizer in this one. All methods block; use one thread at a time.
///
/// After any thrown error except a refusal by the engine, the worker is unusable.
protocol Worker: AnyObject {
    var engine: EngineDescription { get }

    /// The process that reads.
    var id: Int32 { get }

    /// Starts an utterance; `append` and `close` follow.
    ///
    /// - Parameter parts: the ranges with speech, if several utterances are read as one; else empty.
    func open(adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange]) throws

    /// Appends samples to the utterance.
    func append(_ samples: [Int16]) throws

    /// Ends the utterance of `samples` samples. Returns the first reply, which has the adaptation state unless the utterance
    /// is too short.
    func close(_ samples: Int) throws -> WorkerProtocol.Reply

    /// Waits for the result of the utterance.
    func finish(_ samples: Int, after reply: WorkerProtocol.Reply) throws -> WorkerProtocol.Result

    /// Adds what an utterance teaches to a state; nil if the engine does not adapt.
    func survey(_ samples: [Int16], into state: AdaptationState?) throws -> WorkerPool.Surveyed?

    func beginPartials(adaptation: AdaptationState?) throws

    /// Appends samples to the utterance and returns its text so far; if it is complete, the text of all of it.
    func partial(after samples: [Int16], isComplete: Bool) throws -> String

    func endPartials() throws

    /// Ends the worker. Any thread may call this, even while another uses it.
    func kill()
}

extension Worker {
    func open(adaptation: AdaptationState?, alternatives: Int) throws {
        try open(adaptation: adaptation, alternatives: alternatives, parts: [])
    }
}
