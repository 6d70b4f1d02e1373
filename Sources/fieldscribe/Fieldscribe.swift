@main struct Fieldscribe {
    static func main() {}
}
