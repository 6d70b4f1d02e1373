@main struct Chaos { static func main() {} }
