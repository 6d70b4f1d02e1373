import Core

/// An engine with its model, which transcribes recordings again.
package struct ReadingEngine: Hashable, Sendable {
    /// The engine's name in readings: `moonshine`.
    package var name: String
    /// The model's name in readings; nil if unknown.
    var model: String?
    /// Identifies engine, model and version: `moonshine tiny-en 1a2b3c4d5e6f`.
    package var label: String

    package init(name: String, model: String?, label: String) {
        self.name = name
        self.model = model
        self.label = label
    }

    /// The least accurate engine. It skips recordings that any other engine has transcribed.
    static let plain = "pocketsphinx"
}

/// A recording that one machine transcribes again, until its lease ends.
package struct OfficeJob: Hashable, Sendable {
    /// The id in the queue.
    var id: Int
    /// The recording's number in the archive.
    package var recording: Int
    /// The number of times the job was claimed. Only the latest claim can finish it.
    var token: Int
}

/// An archive with a queue of recordings that machines transcribe again.
package protocol OfficeQueue: OfficeArchive {
    /// Adds jobs for an engine: recordings with sound whose current version neither it nor a better engine has transcribed.
    ///
    /// Returns after one short query if no copy was added, because idle machines call it every few seconds, and a query
    /// over 100,000 recordings takes half a second.
    func offer(_ engine: ReadingEngine) throws(DeviceError)

    /// Claims a free job; returns nil if there is none.
    ///
    /// - Parameter lease: how long the job belongs to this claim, in seconds.
    func claim(_ engine: ReadingEngine, lease: Int) throws(DeviceError) -> OfficeJob?

    /// Extends the lease of a job; returns false if another machine has claimed it.
    func renew(_ job: OfficeJob, lease: Int) throws(DeviceError) -> Bool

    /// Returns a job to the queue.
    func release(_ job: OfficeJob) throws(DeviceError)

    /// Returns a failed job to the queue, which leaves it alone after the third failure.
    ///
    /// - Parameter problem: the reason, in one line.
    func fail(_ job: OfficeJob, _ problem: String) throws(DeviceError)

    /// Adds the reading of a job to its recording and finishes the job. May be called again if it is unknown whether the
    /// first call was committed.
    ///
    /// - Parameter reading: makes the reading from the timeline that the recording is shown with.
    /// - Returns: false if another machine has claimed the job; then nothing is added.
    func finish(
        _ job: OfficeJob, _ reading: (Timeline?) throws(DeviceError) -> GatheredReading
    ) throws(DeviceError) -> Bool

    /// Returns the number of an engine's jobs that are not done, without those that are left alone.
    func unfinished(_ engine: ReadingEngine) throws(DeviceError) -> Int

    /// Returns the recordings that are left alone, and the last failure of each.
    func failed(_ engine: ReadingEngine) throws(DeviceError) -> [(recording: Int, problem: String)]

    /// Makes jobs that are left alone available again.
    func retry(_ engine: ReadingEngine) throws(DeviceError)
}
