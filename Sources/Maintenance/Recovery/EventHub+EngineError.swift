import Core
import Recognition

extension EventHub {
    /// Publishes the reason why the wanted engine failed or was replaced, once.
    package func publish(engineErrorOf pool: WorkerPool) async {
        if let error = await pool.takeEngineError() { publish(fault: error) }
    }
}
