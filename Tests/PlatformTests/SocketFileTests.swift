import Glibc
import Testing
import TestKit

@testable import Core
@testable import System

@Suite("Socket files") struct SocketFileTests {
    let folder = TemporaryFolder()

    private func remove(_ path: String) -> DeviceError? {
        thrown { try removeStaleSocket(at: path, listener: "a process", remedy: "name another path") }
    }

    @Test("a stale socket is removed; a missing one is no error")
    func stale() {
        let path = folder.file("socket")
        #expect(remove(path) == nil)
        #expect(createStaleSocket(at: path))
        #expect(FileStatus(path)?.kind == .socket)
        #expect(remove(path) == nil && !pathExists(path))
    }

    @Test(
        "anything but a socket stays unchanged, and the error says what it is",
        arguments: [
            (#"touch "$P""#, "is a file, not a socket"), (#"mkdir "$P""#, "is a folder, not a socket"),
            (#"mkfifo "$P""#, "is a FIFO, not a socket"), (#"ln -s /nowhere "$P""#, "is a symbolic link, not a socket"),
            (#"ln -s "$S" "$P""#, "is a symbolic link, not a socket"),
            (#"mknod "$P" c 1 3"#, "is a device, not a socket"),
        ])
    func foreign(command: String, description: String) throws {
        let (path, stale) = (folder.file("path"), folder.file("stale"))
        #expect(createStaleSocket(at: stale))
        let shell = try #require(popen("P='\(path)'; S='\(stale)'; \(command) 2>&1", "r"))
        let isCreated = pclose(shell) == 0
        // Only root may create devices.
        try #require(isCreated || geteuid() != 0 && command.hasPrefix("mknod"))
        guard isCreated else { return }
        let before = FileStatus(path)
        let error = try #require(remove(path))
        #expect(
            error.code == .denied && error.message == "\(path): \(description), and was not changed; name another path")
        #expect(FileStatus(path) == before && pathExists(stale))
    }

    @Test("a socket in use stays, even if its queue is full", arguments: [false, true])
    func inUse(isFull: Bool) {
        let path = folder.file("socket")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var clients: [Int32] = []
        defer { for descriptor in clients + [listener] { close(descriptor) } }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                #expect(bind(listener, name, size) == 0 && listen(listener, 0) == 0)
                var mayConnect = isFull
                while mayConnect {
                    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                    clients.append(client)
                    mayConnect = connect(client, name, size) == 0
                }
            }
        }
        let error = remove(path)
        #expect(
            error?.code == .busy && error?.message.contains("a process is listening there") == true, "\(error as Any)")
        #expect(pathExists(path))
    }

    @Test("a process removes its own socket at the end, but not another one with the same name")
    func ownSocket() throws {
        let path = folder.file("socket")
        #expect(createStaleSocket(at: path))
        let createdStatus = try #require(FileStatus(path))
        #expect(rename(path, folder.file("moved")) == 0 && createStaleSocket(at: path))
        removeSocket(at: path, created: createdStatus)
        #expect(pathExists(path))
        removeSocket(at: folder.file("moved"), created: createdStatus)
        #expect(!pathExists(folder.file("moved")))
    }
}
