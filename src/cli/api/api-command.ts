import { type Arguments, type Command, EXIT, type Terminal, UsageError } from '../command.ts'
import { type ApiClient, createApiClient } from './api-client.ts'

/** A command over the API runs with these. */
export interface ApiArguments extends Arguments {
  readonly client: ApiClient
  /** True when the answer is to be JSON. */
  readonly json: boolean
  readonly terminal: Terminal
}

/** A command that asks a running service over HTTP. */
export interface ApiCommand
  extends Pick<Command, 'name' | 'summary' | 'help'>,
    Partial<Pick<Command, 'options' | 'flags'>> {
  /** The names of its positional arguments, all of them required. */
  readonly positionals: readonly string[]
  /** The options as help shows them behind the arguments: `[--status <status>]`. */
  readonly usage?: string
  /** Names of further positional arguments that may be left out. */
  readonly optional?: readonly string[]
  /** Runs the command. It returns the exit code, or nothing for 0. */
  run(args: ApiArguments): Promise<number | undefined>
}

const ACCESS = [
  'Asks the service at RELAYER_URL with the API key RELAYER_API_KEY, or else the one of the configuration in this folder. --json prints the',
  'answer for programs, with exact integers.',
]

/** Makes a command of the command line from one over the API. */
export function apiCommand({
  positionals,
  optional = [],
  usage = '',
  help,
  options = [],
  flags = [],
  run,
  ...command
}: ApiCommand): Command {
  const names = [...positionals.map((name) => `<${name}>`), ...optional.map((name) => `[${name}]`)]
  return {
    ...command,
    usage: [...names, usage, '[--json]'].filter((part) => part !== '').join(' '),
    help: [...help, '', ...ACCESS],
    options,
    flags: [...flags, 'json'],
    maxPositionals: positionals.length + optional.length,
    run: async (args, terminal) => {
      const missing = positionals[args.positionals.length]
      if (missing !== undefined)
        throw new UsageError(`The ${missing} is missing. Usage: relayer ${command.name} ${names.join(' ')}`)
      const json = args.flags.has('json')
      return (await run({ ...args, client: createApiClient(), json, terminal })) ?? EXIT.ok
    },
  }
}

/** Builds a path from its parts, each of them encoded. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** Builds a query from the values that are there. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`
}
