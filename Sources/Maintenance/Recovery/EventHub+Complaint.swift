import Core
import Recognition

extension EventHub {
    /// Publishes a fault, once, with the reason why another engine replaces the wanted one.
    package func publish(complaintOf pool: WorkerPool) async {
        if let complaint = await pool.takeComplaint() { publish(fault: complaint) }
    }
}
