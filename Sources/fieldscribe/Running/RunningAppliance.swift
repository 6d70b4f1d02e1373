import Appliance
import Core
import Glibc
import System

/// A connection to the running appliance.
struct RunningAppliance {
    private let client: ControlClient

    /// - Throws: `Ending` with status 5 if none is running.
    init(_ arguments: Arguments) throws {
        let configuration = try arguments.configuration()
        guard let client = try ControlClient(configuration) else {
            Terminal.say(
                "fieldscribe: the appliance is not running (nothing is listening at \(configuration.control.socket)); start "
                    + "it: systemctl start fieldscribe, or fieldscribe run")
            throw Ending(status: 5)
        }
        self.client = client
    }

    func ask(_ request: ControlRequest) throws -> ControlResponse { try client.ask(request) }

    func send(_ request: ControlRequest) throws { try client.send(request) }

    func nextLine() throws -> [UInt8]? { try client.nextLine() }

    func status() throws -> ApplianceStatus {
        guard let status = try ask(.status).status else {
            throw DeviceError(.failed, "status", "the appliance is running another version; restart it")
        }
        return status
    }
}
