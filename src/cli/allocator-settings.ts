/**
 * The free bytes at the end of each of its heaps that the allocator of glibc keeps. By default it learns from the largest blocks that were
 * freed, which are those of the start, and a service would keep 50 to 100 MB for ever. With more it keeps several times the difference,
 * one for each thread; with less it asks the system for memory and gives it back more often.
 */
const TRIM_THRESHOLD_BYTES = 1_048_576

/** The variable that glibc reads when a process starts. */
const TRIM_THRESHOLD = 'MALLOC_TRIM_THRESHOLD_'

/** The facts about a process that decide whether it needs other settings. */
interface ProcessFacts {
  readonly platform: NodeJS.Platform
  /** The arguments behind the name of the program. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** A parent process of Node.js talks to this one. The connection would not survive. */
  readonly hasChannel: boolean
  /** Node.js was started with permissions (`--permission`) that forbid to start a program. */
  readonly isConfined: boolean
}

/** Returns the environment with which the program should start again; undefined when it has one that fits. */
export function environmentToRestartWith({ platform, args, env, hasChannel, isConfined }: ProcessFacts) {
  const isWanted = platform === 'linux' && args[0] === 'serve' && env[TRIM_THRESHOLD] === undefined
  if (!isWanted || hasChannel || isConfined) return undefined
  return { ...env, [TRIM_THRESHOLD]: String(TRIM_THRESHOLD_BYTES) }
}

/**
 * Replaces the program of this process by itself when the allocator needs other settings, which it reads only at the start. Process id,
 * arguments and standard streams stay. Call it before anything else: nothing else survives.
 */
export function applyAllocatorSettings(): void {
  const { platform, argv, argv0, execArgv, execPath } = process
  const env = environmentToRestartWith({
    platform,
    args: argv.slice(2),
    env: process.env,
    hasChannel: process.send !== undefined,
    // `permission` is absent without `--permission`, which its type does not say.
    isConfined: (process as Partial<NodeJS.Process>).permission?.has('child') === false,
  })
  if (env !== undefined) process.execve?.(execPath, [argv0, ...execArgv, ...argv.slice(1)], env)
}
