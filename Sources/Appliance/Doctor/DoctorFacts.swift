import Core
import Settings

/// The measurements of this machine: numbers and errors, without a judgement.
package struct DoctorFacts: Sendable {
    /// Whether the appliance runs, by its control socket.
    enum Appliance: Hashable, Sendable {
        case stopped, running
        /// It runs, but this user may not control it.
        case denied
    }

    /// A sample of the microphone.
    struct Sound: Hashable, Sendable {
        var seconds = 0.0
        /// The level, in dBFS.
        var rms = -100.0
        /// The highest peak, in dBFS.
        var peak = -100.0

        /// Whether all samples have the same value.
        var isStuck = false

        /// The share of samples at full scale, 0 to 1.
        var clipped = 0.0

        var channels = 1
        var channelsIdentical = false
        /// Whether the channels cancel each other when mixed into one.
        var channelsCancel = false
        /// The channel that has a constant value, from 1; nil if none has.
        var stuckChannel: Int?
        /// Samples that the device lost.
        var lost = 0
    }

    /// A line of the panel.
    struct Line: Hashable, Sendable {
        /// The line's address, as the configuration has it.
        var name: String
        /// Whether it is a GPIO line, rather than simulated or none.
        var isGpio: Bool
        /// Whether the appliance uses it.
        var isOurs = false
        /// Why it cannot be used; nil if it can.
        var error: DeviceError?
    }

    /// The disk that recordings go to.
    struct Disk: Hashable, Sendable {
        /// The storage directory, whether it exists yet or not.
        var directory: String
        /// The files of the archive that other users may read, such as `archive.sqlite`.
        var readable: [String] = []
        /// Bytes that this user may still write there.
        var freeBytes: Double

        /// The durations of syncs of 32,000 bytes, in seconds.
        var syncSeconds: [Double]
    }

    /// The speed of a decode worker.
    struct Decoder: Hashable, Sendable {
        /// Seconds of audio that one worker decodes per second.
        var timesRealTime: Double

        /// Whether it was measured on speech; a synthetic sound gives only the order of magnitude.
        var isOnSpeech: Bool

        /// The engine, as the worker names it.
        var engine: EngineDescription?
    }

    /// What the recording user is allowed to do.
    struct Permissions: Hashable, Sendable {
        /// The recording user: `fieldscribe` if it exists, otherwise the current user.
        var user: String
        var isRoot = false
        /// Whether the user is the service's own, made by the package.
        var isServiceUser = false

        /// Required groups that the user is not in.
        var missingGroups: [String] = []

        /// Required groups that this machine does not have.
        var unknownGroups: [String] = []
    }

    /// The machine.
    package struct Board: Hashable, Sendable {
        /// The model: `Raspberry Pi 4 Model B Rev 1.4`.
        package var name: String
        /// In units of 1,000,000 bytes.
        var memoryMegabytes: Int
        /// Processor cores that are online.
        var cores: Int

        /// In degrees Celsius; nil if the machine has no sensor.
        var temperature: Double?

        /// Whether the supply voltage was too low since power-on; nil if the machine does not report it.
        var isUndervolted: Bool?
    }

    /// The settings of all measurements; the defaults if the file was refused.
    var configuration: Configuration

    /// One line each.
    var configurationProblems: [String] = []
    /// The settings with an error, such as `capture.device`; they have their defaults instead.
    var refusedSettings: Set<String> = []
    /// Why the file could not be read.
    var configurationError: DeviceError?
    var appliance = Appliance.stopped

    /// Whether the appliance uses the microphone, if it may be asked.
    var microphoneIsOurs = false
    var sound: Result<Sound, DeviceError>

    /// `plughw:CARD=Mic,DEV=0 (USB Microphone)`.
    var microphones: [String] = []
    var button: Line
    var lamp: Line
    /// Why the model cannot be loaded; nil if it can.
    var modelError: DeviceError?

    /// Why `auto` skips engines that it prefers, in the order of `EngineRegistry.automatic`.
    var skippedEngines: [DeviceError] = []

    /// Nil if there is no model.
    var decoder: Result<Decoder, DeviceError>?
    /// The model that identifies speakers, or why it cannot be used; nil if speakers are not identified.
    var speakers: Result<String, DeviceError>?
    /// Programs and folders that the service's sandbox allows; nil if there is no service.
    var runnable: [String]?
    var disk: Result<Disk, DeviceError>
    /// The number of public keys that copies are encrypted for, 0 for none; or why nothing can be copied. Nil if not checked.
    var sealing: Result<Int, DeviceError>?
    /// The number of public keys that recordings on the recorder are encrypted for, or why none are; nil if not configured.
    var recorderSealing: Result<Int, DeviceError>?
    /// Damaged databases that were kept, on a recorder that encrypts.
    var damagedDatabases: [String] = []
    /// The sealed recordings that are open; nil if none are.
    var opened: ApplianceStatus.Opened?
    /// The public key of the recorder's signatures, nil before the first start; or why nothing is signed. Nil if not checked.
    var signing: Result<String?, DeviceError>?
    /// The number of known sticks, or why the list cannot be read. Nil if not checked.
    var knownSticks: Result<Int, DeviceError>?
    /// The USB ports that can be a drive for a laptop, or why there is none; nil if not configured.
    var drivePorts: Result<[String], DeviceError>?
    var permissions: Permissions
    /// Whether the clock was set from the network or a clock module.
    var isClockSynchronized: Bool
    package var board: Board
}

extension DoctorFacts.Disk {
    /// 0 if nothing was measured.
    var medianSeconds: Double {
        let sorted = syncSeconds.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// 0 if nothing was measured.
    var worstSeconds: Double { syncSeconds.max() ?? 0 }
}
