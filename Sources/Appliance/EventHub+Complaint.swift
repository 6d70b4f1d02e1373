import Recognizing

extension EventHub {
    /// Tells as a fault why another engine reads than the one that is wanted, where somebody has not been told yet.
    func publish(complaintOf pool: WorkerPool) async {
        if let complaint = await pool.takeComplaint() {
            publish(.fault(code: complaint.code.rawValue, message: complaint.message))
        }
    }
}
