import Core

/// A loaded engine in a pool: a process, or a recognizer in this process. Methods block, and only one thread may use a
/// worker at a time.
///
/// After a method throws an error that the engine did not report, the worker is unusable.
protocol Worker: AnyObject {
    var engine: EngineDescription { get }

    /// The ID of the process that runs the engine.
    var id: Int32 { get }

    /// Starts an utterance; `append` and `close` follow.
    ///
    /// - Parameter parts: the ranges with speech if several utterances are decoded as one; otherwise empty.
    func open(adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange]) throws

    func append(_ samples: [Int16]) throws

    /// Ends an utterance of `samples` samples. Returns the first reply, which has the adaptation state if the engine
    /// adapts and can learn something from the utterance.
    func close(_ samples: Int) throws -> WorkerProtocol.Reply

    /// Waits for the result of the utterance.
    func finish(_ samples: Int, after reply: WorkerProtocol.Reply) throws -> WorkerProtocol.Result

    /// Adapts a state to an utterance without decoding it. Returns nil if the engine does not adapt or can learn
    /// nothing from the utterance.
    func survey(_ samples: [Int16], into state: AdaptationState?) throws -> WorkerPool.SurveyResult?

    func beginPartials(adaptation: AdaptationState?) throws

    /// Appends samples to the utterance and returns its current text. If the utterance is complete, the text covers all
    /// of it.
    func partial(after samples: [Int16], isComplete: Bool) throws -> String

    func endPartials() throws

    /// Kills the worker. Any thread may call this, even while another uses the worker.
    func kill()
}
