import Core
import Settings

/// What was measured of this machine: numbers and errors, without a judgement.
package struct DoctorFacts: Sendable {
    /// Whether the appliance runs, as its control socket tells.
    enum Appliance: Hashable, Sendable {
        case stopped, running
        /// It is there, but this user may not ask it.
        case denied
    }

    /// Some seconds of the microphone.
    struct Sound: Hashable, Sendable {
        /// How much was heard, in seconds.
        var seconds = 0.0

        /// Level and highest peak, in dBFS.
        var rms = -100.0
        /// The highest peak, in dBFS.
        var peak = -100.0

        /// Whether all samples are one and the same.
        var isStuck = false

        /// The share of samples at full scale, 0 to 1.
        var clipped = 0.0

        /// How many channels there are.
        var channels = 1
        /// Whether both of two channels are one and the same.
        var channelsIdentical = false
        /// Whether channels that are mixed into one cancel each other.
        var channelsCancel = false
        /// Which of two channels has nothing but one value, from 1 on; nil where none has.
        var stuckChannel: Int?

        /// Samples that the device lost.
        var lost = 0

        init() {}
    }

    /// A line of the panel.
    struct Line: Hashable, Sendable {
        /// The line's address, as the configuration has it.
        var name: String
        /// Whether it is a GPIO line, rather than simulated or none.
        var isGpio: Bool

        /// Whether it is the appliance that has it.
        var isOurs: Bool
        /// Why the line cannot be used; nil where it can.
        var error: DeviceError?

        init(name: String, isGpio: Bool, isOurs: Bool = false, error: DeviceError? = nil) {
            self.name = name
            self.isGpio = isGpio
            self.isOurs = isOurs
            self.error = error
        }
    }

    /// The disk that recordings go to.
    struct Disk: Hashable, Sendable {
        /// The storage directory, whether it exists yet or not.
        var directory: String
        /// What others on this machine may read of the archive there, such as `archive.sqlite`; of earlier versions.
        var readable: [String] = []
        /// Bytes that this user may still write there.
        var freeBytes: Double

        /// Seconds that it took to make 32,000 bytes durable, in order.
        var syncSeconds: [Double]

        init(directory: String, freeBytes: Double, syncSeconds: [Double]) {
            self.directory = directory
            self.freeBytes = freeBytes
            self.syncSeconds = syncSeconds
        }
    }

    /// What a decode worker made of a sample.
    struct Decoder: Hashable, Sendable {
        /// Seconds of sound that one worker reads in a second.
        var timesRealTime: Double

        /// Whether it was measured on speech; a synthetic sound only tells the order of magnitude.
        var isOnSpeech: Bool

        /// What the worker said that it is.
        var engine: EngineDescription?

        init(timesRealTime: Double, isOnSpeech: Bool, engine: EngineDescription? = nil) {
            self.timesRealTime = timesRealTime
            self.isOnSpeech = isOnSpeech
            self.engine = engine
        }
    }

    /// What the recording user is allowed to do.
    struct Permissions: Hashable, Sendable {
        /// The user who records: `fieldscribe` where there is one, else who asks.
        var user: String
        /// Whether that is root.
        var isRoot = false
        /// Whether that is the user whom the package made for the service.
        var isServiceUser = false

        /// Groups that are needed and that the user is not in.
        var missingGroups: [String] = []

        /// Groups that are needed and that this machine does not have.
        var unknownGroups: [String] = []

        init(user: String) { self.user = user }
    }

    /// The machine.
    package struct Board: Hashable, Sendable {
        /// Its model as it names itself: `Raspberry Pi 4 Model B Rev 1.4`.
        package var name: String
        /// Its memory, in megabytes of 1,000,000 bytes.
        var memoryMegabytes: Int
        /// Processor cores that are online.
        var cores: Int

        /// In degrees Celsius; nil where the machine does not tell.
        var temperature: Double?

        /// Whether the supply's voltage was too low since the machine started; nil where it does not tell.
        var isUndervolted: Bool?

        init(name: String, memoryMegabytes: Int, cores: Int) {
            self.name = name
            self.memoryMegabytes = memoryMegabytes
            self.cores = cores
        }
    }

    /// The settings that everything else was measured with; the defaults where the file was refused.
    var configuration: Configuration

    /// What is wrong with the file: a line each.
    var configurationProblems: [String] = []
    /// Why the file could not be read at all; nil where it could, or there is none.
    var configurationError: DeviceError?
    /// Whether the appliance runs.
    var appliance = Appliance.stopped

    /// Whether it is the appliance that has the microphone, as far as it may be asked.
    var microphoneIsOurs = false
    /// What the microphone gave, or why it cannot be opened.
    var sound: Result<Sound, DeviceError>

    /// Microphones that this machine has: `plughw:CARD=Mic,DEV=0 (USB Microphone)`.
    var microphones: [String] = []
    /// The button's line.
    var button: Line
    /// The lamp's line.
    var lamp: Line
    /// Why the model cannot be loaded; nil where it can.
    var modelError: DeviceError?

    /// What engines lack that `auto` would rather take, in the order of `EngineRegistry.automatic`.
    var passedOver: [DeviceError] = []

    /// Nil where there is no model to measure with.
    var decoder: Result<Decoder, DeviceError>?
    /// With which model voices are told apart, or why they cannot be; nil where that is not asked for.
    var speakers: Result<String, DeviceError>?
    /// Programs and folders of programs that the service's sandbox lets run; nil where there is no such service.
    var runnable: [String]?
    /// What was measured of the disk, or why it could not be.
    var disk: Result<Disk, DeviceError>
    /// For how many public keys copies are sealed, 0 where they are not; or why nothing can be copied. Nil where it was not asked.
    var sealing: Result<Int, DeviceError>?
    /// For how many public keys recordings are sealed on the recorder, or why none is; nil where that is not asked for.
    var recorderSealing: Result<Int, DeviceError>?
    /// Damaged databases that were kept aside on a recorder that seals.
    var keptAside: [String] = []
    /// How many sealed recordings a private key has opened now, and seconds until they are locked; nil where none is open.
    var opened: (recordings: Int, secondsLeft: Double)?
    /// The public key that recordings and copies are signed by, nil before the first start; or why they are not. Nil where it was not
    /// asked.
    var signing: Result<String?, DeviceError>?
    /// How many sticks are known, or why that cannot be told: then none is. Nil where it does not matter.
    var knownSticks: Result<Int, DeviceError>?
    /// The board's USB ports that can be a device, or why there can be no drive for a laptop; nil where none is asked for.
    var drivePorts: Result<[String], DeviceError>?
    /// What the recording user is allowed to do.
    var permissions: Permissions
    /// Whether the system clock was set from the network or a clock module.
    var isClockSynchronized: Bool
    /// The machine.
    package var board: Board

    init(
        configuration: Configuration, sound: Result<Sound, DeviceError>, button: Line, lamp: Line,
        disk: Result<Disk, DeviceError>, permissions: Permissions, isClockSynchronized: Bool, board: Board
    ) {
        self.configuration = configuration
        self.sound = sound
        self.button = button
        self.lamp = lamp
        self.disk = disk
        self.permissions = permissions
        self.isClockSynchronized = isClockSynchronized
        self.board = board
    }
}

extension DoctorFacts.Disk {
    /// Hours of sound until the reserve is reached: 32,000 bytes a second of each channel.
    func runwayHours(reserveMegabytes: Int, channels: Int = 1) -> Double {
        max(0, freeBytes - Double(reserveMegabytes) * 1_000_000) / 32_000 / Double(channels) / 3_600
    }

    /// The median of `syncSeconds`; 0 where nothing was measured.
    var medianSeconds: Double {
        let sorted = syncSeconds.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The longest of `syncSeconds`; 0 where nothing was measured.
    var worstSeconds: Double { syncSeconds.max() ?? 0 }
}
