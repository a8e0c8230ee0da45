/**
 * The free bytes at the end of each of its heaps that the allocator of glibc keeps. By default it learns from the largest blocks that were
 * freed, which are those of the start, and a service would keep 50 to 100 MB for ever. With more it keeps several times the difference,
 * one for each thread; with less it asks the system for memory and gives it back more often.
 */
const TRIM_THRESHOLD_BYTES = 1_048_576

/** The variable that glibc reads when a process starts. */
const TRIM_THRESHOLD = 'MALLOC_TRIM_THRESHOLD_'

/** An option of Node.js, which it reads when a process starts. */
interface StartOption {
  readonly option: string
  /** The options by which an operator decides the same. Node.js accepts both ways to write one. */
  readonly decided: RegExp
}

const HEAP_SIZES: readonly StartOption[] = [
  // Each half of the space for new objects, in MiB. V8 would let it grow to 64 as soon as a burst of work needs it, and an idle service keeps both.
  // A load costs the same CPU time with 16, and a quarter more with 8.
  { option: '--max-semi-space-size=16', decided: /--(max|min)[-_]semi[-_]space[-_]size/ },
  // The space for older objects, in MiB, up to which V8 does not look for dead ones. About 45 of it are always alive, and with less room V8 marks them
  // twice a second under load: 5 % more CPU time of the service with 96, and with V8's own size 15 % more on PostgreSQL, 5 % more with the embedded
  // database. An idle service is not larger; with 5,000 relayers it is by 20 to 40 MB.
  {
    option: '--initial-old-space-size=128',
    decided: /--(initial|max)[-_](old[-_]space|heap)[-_]size/,
  },
]

/** Without it, anybody who may send SIGUSR1 to the process opens its inspector, through which every program of the machine can read the keys. */
const NO_INSPECTOR: StartOption = { option: '--disable-sigusr1', decided: /--(no-)?disable[-_]sigusr1/ }

/** The settings that a process gets when it starts. */
export interface StartSettings {
  readonly env: NodeJS.ProcessEnv
  /** The options of Node.js, which stand before the name of the program. */
  readonly execArgv: readonly string[]
}

/** The facts about a process that decide whether it needs other settings. */
interface ProcessFacts extends StartSettings {
  readonly platform: NodeJS.Platform
  /** The arguments behind the name of the program. */
  readonly args: readonly string[]
  /** A parent process of Node.js talks to this one. The connection would not survive. */
  readonly hasChannel: boolean
  /** Node.js was started with permissions (`--permission`) that forbid to start a program. */
  readonly isConfined: boolean
}

/** Returns the settings with which the program should start again; undefined when it has some that fit. Settings of the operator stay. */
export function settingsToRestartWith(facts: ProcessFacts): StartSettings | undefined {
  const { platform, args, env, execArgv, hasChannel, isConfined } = facts
  if (platform === 'win32' || args[0] !== 'serve' || hasChannel || isConfined) return undefined
  const isLinux = platform === 'linux'
  const lacksThreshold = isLinux && env[TRIM_THRESHOLD] === undefined
  const given = [...execArgv, env.NODE_OPTIONS ?? '']
  const missing = [...(isLinux ? HEAP_SIZES : []), NO_INSPECTOR].filter(
    ({ decided }) => !given.some((text) => decided.test(text)),
  )
  if (!lacksThreshold && missing.length === 0) return undefined
  return {
    env: lacksThreshold ? { ...env, [TRIM_THRESHOLD]: String(TRIM_THRESHOLD_BYTES) } : env,
    execArgv: [...execArgv, ...missing.map(({ option }) => option)],
  }
}

/**
 * Replaces the program of this process by itself when the allocator, the heap or the inspector needs other settings, which are read only at
 * the start. Process id, arguments and standard streams stay. Call it before anything else: nothing else survives.
 */
export function applyStartSettings(): void {
  const { platform, argv, argv0, env, execArgv, execPath } = process
  const settings = settingsToRestartWith({
    platform,
    args: argv.slice(2),
    env,
    execArgv,
    hasChannel: process.send !== undefined,
    // `permission` is absent without `--permission`, which its type does not say.
    isConfined: (process as Partial<NodeJS.Process>).permission?.has('child') === false,
  })
  if (settings === undefined) return
  process.execve?.(execPath, [argv0, ...settings.execArgv, ...argv.slice(1)], settings.env)
}
