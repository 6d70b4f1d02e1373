// Configurations with the available engines.

extension ConfigurationKey {
    /// All keys, in the order of the sample file.
    static let all = all(engines: EngineRegistry.names)
}

extension Configuration {
    /// Loads the configuration as `loadOwn` does, with the stick's settings if `export.settings` is yes.
    ///
    /// - Throws: as `loadOwn`.
    package static func load(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try loadOwn(explicitPath: explicitPath, environment: environment, systemPath: systemPath).withStickSettings()
    }

    /// Reads the machine's configuration from `explicitPath`, else `$FIELDSCRIBE_CONFIG`, else `systemPath` if it exists,
    /// else uses the defaults.
    ///
    /// - Parameter explicitPath: the value of `--config`.
    /// - Throws: `DeviceError` if the file cannot be read, with `missing` if a named file does not exist;
    ///   `ConfigurationError` for its contents.
    package static func loadOwn(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try load(
            explicitPath: explicitPath, environment: environment, systemPath: systemPath, keys: ConfigurationKey.all)
    }
}

extension LoadedConfiguration {
    /// Loads the configuration as `Configuration.load` does, but never fails.
    package init(explicitPath: String?, environment: [String: String], systemPath: String = Configuration.systemPath) {
        self.init(
            explicitPath: explicitPath, environment: environment, systemPath: systemPath, keys: ConfigurationKey.all
        ) { $0.withStickSettings() }
    }
}
