import Glibc

final class CStrings {
    // Safety: allocated here, freed once in deinit.
    /// NUL-terminated strings, valid while the object exists.
    let pointers: [UnsafePointer<CChar>?]

    init(_ texts: [String]) { pointers = texts.map { UnsafePointer(strdup($0)) } }

    deinit { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
}
