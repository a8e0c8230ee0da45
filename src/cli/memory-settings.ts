/**
 * The free bytes at the end of each of its heaps that the allocator of glibc keeps. By default it learns from the largest blocks that were
 * freed, which are those of the start, and a service would keep 50 to 100 MB for ever. With more it keeps several times the difference,
 * one for each thread; with less it asks the system for memory and gives it back more often.
 */
const TRIM_THRESHOLD_BYTES = 1_048_576

/** The variable that glibc reads when a process starts. */
const TRIM_THRESHOLD = 'MALLOC_TRIM_THRESHOLD_'

/**
 * The largest half of V8's space for new objects, in MiB. V8 would let each half grow to 64 MiB as soon as a burst of work needs it, and an idle
 * service keeps both. A load costs the same CPU time with 16, and a quarter more with 8.
 */
const SEMI_SPACE_MIB = 16

/** The option of Node.js for it, which V8 reads when a process starts. */
const SEMI_SPACE = '--max-semi-space-size'

/** Node.js accepts both ways to write an option. */
const ANY_SEMI_SPACE = /--(max|min)[-_]semi[-_]space[-_]size/

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
  if (platform !== 'linux' || args[0] !== 'serve' || hasChannel || isConfined) return undefined
  const hasThreshold = env[TRIM_THRESHOLD] !== undefined
  const hasSemiSpace = [...execArgv, env.NODE_OPTIONS ?? ''].some((text) => ANY_SEMI_SPACE.test(text))
  if (hasThreshold && hasSemiSpace) return undefined
  return {
    env: hasThreshold ? env : { ...env, [TRIM_THRESHOLD]: String(TRIM_THRESHOLD_BYTES) },
    execArgv: hasSemiSpace ? execArgv : [...execArgv, `${SEMI_SPACE}=${SEMI_SPACE_MIB}`],
  }
}

/**
 * Replaces the program of this process by itself when the allocator or the heap needs other settings, which they read only at the start.
 * Process id, arguments and standard streams stay. Call it before anything else: nothing else survives.
 */
export function applyMemorySettings(): void {
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
