import Core
import Recognizing

extension EventHub {
    /// Tells an error as a fault.
    func publish(fault error: DeviceError) { publish(.fault(code: error.code.rawValue, message: error.message)) }

    /// Tells as a fault why another engine reads than the one that is wanted, where somebody has not been told yet.
    func publish(complaintOf pool: WorkerPool) async {
        if let complaint = await pool.takeComplaint() { publish(fault: complaint) }
    }
}
