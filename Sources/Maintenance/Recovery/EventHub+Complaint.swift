import Core
import Recognition

extension EventHub {
    /// Reports as a fault why another engine replaces the wanted one, once.
    package func publish(complaintOf pool: WorkerPool) async {
        if let complaint = await pool.takeComplaint() { publish(fault: complaint) }
    }
}
