import Core
import Recognition

extension EventHub {
    /// Tells as a fault why another engine reads than the one that is wanted, where somebody has not been told yet.
    package func publish(complaintOf pool: WorkerPool) async {
        if let complaint = await pool.takeComplaint() { publish(fault: complaint) }
    }
}
