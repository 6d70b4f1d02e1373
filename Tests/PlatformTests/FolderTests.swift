import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import System

@Suite("Folders to which others may write") struct FolderTests {
    private let temporary = TemporaryFolder()

    private func outside() throws -> String {
        let outside = temporary.file("outside")
        try makeFolder(outside)
        try durableReplace(path: "\(outside)/theirs", with: "theirs")
        return outside
    }

    @Test("removing a folder deletes the links in it at any depth, but not their targets")
    func removing() throws {
        let outside = try outside()
        let inside = temporary.file("inside")
        try makeFolder("\(inside)/deep")
        for link in ["\(inside)/link", "\(inside)/deep/link"] { #expect(symlink(outside, link) == 0) }
        #expect(mkfifo("\(inside)/pipe", 0o600) == 0)
        #expect(symlink(outside, temporary.file("top")) == 0)
        try removeFolder(inside)
        try removeFolder(temporary.file("top"))
        try removeFolder(temporary.file("nothing"))
        #expect(try names(inFolder: temporary.path) == ["outside"])
        #expect(try names(inFolder: outside) == ["theirs"])
    }

    // wait: a timeout; code that opens the pipe would hang
    @Test("a file is opened; a pipe, a folder and a link are refused immediately", .timeLimit(.minutes(60)))
    func opening() throws {
        let outside = try outside()
        let folder = try Folder(opening: temporary.path)
        #expect(mkfifo(temporary.file("pipe"), 0o600) == 0)
        #expect(symlink("\(outside)/theirs", temporary.file("link")) == 0)
        #expect(symlink(outside, temporary.file("folder-link")) == 0)
        for flags in [O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT] {
            for (name, code) in [("pipe", "unsupported"), ("outside", "unsupported"), ("link", "denied")] {
                let error = try #require(thrown { _ = try folder.openFile(name, flags) })
                #expect(error.code.rawValue == code && error.message.contains("\(temporary.path)/\(name)"))
            }
        }
        #expect(thrown { _ = try folder.folder("folder-link") }?.code == .denied)
        #expect(thrown { _ = try folder.folder("..") } != nil)
        #expect(try folder.folder("outside").openFile("theirs", O_RDONLY).content() == Array("theirs".utf8))
    }

    @Test("the kind of a link is link, not the kind of its target; a link's name counts as used")
    func kinds() throws {
        let folder = try Folder(opening: temporary.path)
        _ = try outside()
        #expect(symlink("nowhere", temporary.file("link")) == 0)
        #expect(mkfifo(temporary.file("pipe"), 0o600) == 0)
        #expect(try folder.status("outside")?.kind == .folder)
        #expect(try folder.status("link")?.kind == .link)
        #expect(try folder.status("pipe")?.kind == .pipe)
        #expect(try folder.status("nothing") == nil)
        #expect(try folder.unusedName(for: "x", "y") == "x.y-1")
        #expect(symlink("nowhere", temporary.file("x.y-1")) == 0)
        #expect(try folder.unusedName(for: "x", "y") == "x.y-2")
        #expect(thrown { try durableRename(temporary.file("pipe"), to: temporary.file("link")) }?.status == EEXIST)
    }
}

@Suite("Names that are not UTF-8") struct OddNameTests {
    @Test("names that are not UTF-8 are removed with their folder at any depth, and no link is followed")
    func removed() throws {
        let temporary = TemporaryFolder()
        let top = temporary.file("top")
        try makeFolder("\(top)/inner")
        try durableReplace(path: temporary.file("kept"), with: "text")
        let invalidName: [CChar] = [0x2F, 0x63, 0x61, 0x66, -0x17, 0]
        for path in [top, "\(top)/inner"] {
            let name = Array(path.utf8).map { CChar(bitPattern: $0) } + invalidName
            #expect(path == top ? mkdir(name, 0o700) == 0 : symlink(temporary.path, name) == 0)
        }
        let folder = try Folder(opening: temporary.path)
        #expect(try folder.folder("top").names().sorted() == ["caf\u{FFFD}", "inner"])
        try folder.removeAll("top")
        #expect(!pathExists(top) && pathExists(temporary.file("kept")))
    }
}

@Suite("Scratch folders") struct ScratchFolderTests {
    @Test("a scratch folder is private, has a unique name, and is removed with its contents")
    func lifetime() throws {
        var path = ""
        do {
            let (first, second) = (try ScratchFolder(for: "testing"), try ScratchFolder(for: "testing"))
            path = first.path
            #expect(first.path != second.path)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
            try durableReplace(path: "\(path)/file", with: "text")
        }
        #expect(!pathExists(path))
    }

    @Test("a killed process's scratch folder is removed later; links and running processes' folders stay")
    func sweeps() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // No process has such an ID.
        let stale = "\(parent)/fieldscribe-sweeping-2147483647-stale"
        let link = "\(parent)/fieldscribe-sweeping-2147483647-link"
        let living = "\(parent)/fieldscribe-sweeping-\(getpid())-living"
        for path in [stale, living] { try makeFolder("\(path)/deep") }
        #expect(symlink(living, link) == 0)
        _ = try ScratchFolder(for: "sweeping")
        #expect(!pathExists(stale) && pathExists(living) && pathExists(link))
        for path in [living, link] { try removeFolder(path) }
    }
}
