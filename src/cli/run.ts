import { parseArgs } from 'node:util'
import {
  importDefenderRelayers,
  importEngineV2,
  importKoraPaymaster,
  importOpenZeppelinRelayer,
} from '../../importers/import.ts'
import { ConfigError, MissingConfigError, UnreadableConfigError } from '../lib/fields.ts'
import { packageVersion } from '../lib/package-files.ts'
import { suggest } from '../lib/suggest.ts'
import { maskUrls } from '../log.ts'
import { relayersList, relayersPause, relayersResume } from './api/relayers.ts'
import { report } from './api/report.ts'
import {
  scheduleApprove,
  scheduleChange,
  scheduleCreate,
  scheduleDelete,
  scheduleList,
  scheduleNext,
  schedulePause,
  scheduleRefuse,
  scheduleResume,
  scheduleRuns,
  scheduleShow,
} from './api/schedules.ts'
import { signersCreate, signersCreateKey, signersKeys, signersList } from './api/signers.ts'
import {
  txApprove,
  txCancel,
  txFollow,
  txList,
  txReceipt,
  txRefuse,
  txReplace,
  txSend,
  txShow,
  txWhy,
} from './api/transactions.ts'
import { auditVerify } from './audit-verify.ts'
import { changeStorageKey } from './change-storage-key.ts'
import { type Arguments, type Command, EXIT, type Terminal, UsageError } from './command.ts'
import { checkConfig, health } from './config/check-config.ts'
import { init, relayerCommand } from './init.ts'
import { keysChangePassphrase, keysCreate, keysImport, keysShow } from './keys/commands.ts'
import { keysImportTo } from './keys/import-to.ts'
import { migrateCommand } from './open-database.ts'
import { reset } from './reset.ts'
import { restoreAccept, restoreCheck, restoreDecide } from './restore/commands.ts'
import { pluginsServe, serve } from './serve.ts'
import { txDecide } from './tx-decide.ts'

const COMMANDS: readonly Command[] = [
  serve,
  pluginsServe,
  init,
  keysCreate,
  keysImport,
  keysShow,
  keysChangePassphrase,
  keysImportTo,
  importEngineV2,
  importOpenZeppelinRelayer,
  importDefenderRelayers,
  importKoraPaymaster,
  changeStorageKey,
  checkConfig,
  migrateCommand,
  txSend,
  txList,
  txShow,
  txReceipt,
  txReplace,
  txCancel,
  txApprove,
  txRefuse,
  txWhy,
  txFollow,
  txDecide,
  scheduleList,
  scheduleCreate,
  scheduleShow,
  scheduleNext,
  scheduleRuns,
  scheduleChange,
  schedulePause,
  scheduleResume,
  scheduleDelete,
  scheduleApprove,
  scheduleRefuse,
  relayersList,
  relayersPause,
  relayersResume,
  signersList,
  signersCreate,
  signersCreateKey,
  signersKeys,
  restoreCheck,
  restoreDecide,
  restoreAccept,
  report,
  reset,
  auditVerify,
  health,
]

/** Runs a command line (without the name of the program) and returns the exit code. It never throws. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(argv, terminal)
  } catch (error) {
    return explain(error, terminal)
  }
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  if (argv.includes('--version') || argv.includes('-v')) {
    terminal.out(packageVersion())
    return EXIT.ok
  }
  const wantsHelp = argv.length === 0 || argv.includes('--help') || argv.includes('-h') || argv[0] === 'help'
  const words = argv.filter((word) => word !== 'help' && word !== '--help' && word !== '-h')
  const command = find(words)
  if (wantsHelp) {
    terminal.out(command ? helpOf(command) : overview())
    return argv.length === 0 ? EXIT.unusable : EXIT.ok
  }
  if (!command) throw new UsageError(unknownCommand(words, COMMANDS))
  return command.run(parse(command, words.slice(command.name.split(' ').length)), terminal)
}

function find(words: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(' ').every((part, index) => words[index] === part))
}

function parse(command: Command, args: readonly string[]): Arguments {
  const { flags = [] } = command
  const options = Object.fromEntries([
    ...command.options.map((name) => [name, { type: 'string' as const }]),
    ...flags.map((name) => [name, { type: 'boolean' as const }]),
  ])
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
    const entries = Object.entries(values)
    if (positionals.length <= command.maxPositionals) {
      return {
        positionals,
        options: Object.fromEntries(
          entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
        ),
        flags: new Set(entries.flatMap(([name, value]) => (value === true ? [name] : []))),
      }
    }
  } catch {
    // The messages of the parser quote the command line, which may contain a private key (I11).
  }
  throw new UsageError(
    [
      'The arguments are wrong.',
      `Usage: relayer ${command.name} ${command.usage}`.trimEnd(),
      ...(command.hint === undefined ? [] : [command.hint]),
      `For help: relayer ${command.name} --help`,
    ].join('\n'),
  )
}

function explain(error: unknown, terminal: Terminal): number {
  if (error instanceof MissingConfigError) {
    terminal.err(error.message)
    terminal.err('The service needs a config file (relayers, signers, networks), a key file and an API_KEY.')
    terminal.err(`Create a starter with:  ${relayerCommand('init')}`)
    return EXIT.unusable
  }
  const explained = explainSystemError(error)
  const said = error instanceof Error ? error.message : 'A value that is not an Error was thrown.'
  terminal.err(maskUrls(explained ?? said))
  return UNUSABLE.some((type) => error instanceof type) ? EXIT.unusable : EXIT.failed
}

/** Errors of the command line and of the configuration. */
const UNUSABLE = [UsageError, ConfigError, UnreadableConfigError]

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return [
    'relayer: an HTTP service that operates blockchain accounts for applications.',
    '',
    'Usage: relayer <command> [arguments]',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'For help on a command: relayer <command> --help. For the version: relayer --version.',
    'Exit codes: 0 done · 1 failed while working · 2 the command line or the configuration cannot be used.',
  ].join('\n')
}

function helpOf({ name, usage, summary, help }: Command): string {
  return [`Usage: relayer ${name} ${usage}`.trimEnd(), '', summary, '', ...help].join('\n')
}

/**
 * A word like those of commands. Anything else that was typed may be a secret, so it is not repeated (I11).
 */
const WORD = /^[a-z][a-z-]{0,19}$/

/** Explains a command line that begins with no command, and names the commands that may be meant. */
function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name)
  const [first = ''] = words
  const group = names.filter((name) => name.startsWith(`${first} `))
  const typed = words.slice(0, group.length > 0 ? 2 : 1)
  const shown = typed.every((word) => WORD.test(word)) ? ` "${typed.join(' ')}"` : ''
  const isGroup = group.length > 0 && words.length === 1
  const near = isGroup ? '' : suggest(words.slice(0, 2).join(' '), names) || suggest(first, names)
  const meant =
    near === '' && group.length > 0
      ? `; there ${group.length === 1 ? 'is' : 'are'} ${group.join(', ')}`
      : near
  return `There is no command${shown}${meant}. relayer --help lists all commands.`
}

/** The parts of an error of the operating system, or of PostgreSQL, that an explanation needs. */
interface SystemError {
  readonly code?: unknown
  readonly port?: unknown
  readonly address?: unknown
  readonly syscall?: unknown
  readonly errors?: readonly unknown[]
}

type Explanation = (error: SystemError, said: string) => string

/**
 * By the code of the error: `errno` names of the system, and SQLSTATE of PostgreSQL (appendix A of its
 * manual).
 */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  EADDRINUSE: ({ address, port }) =>
    `Another program already listens on port ${port} of ${address}. End it, or choose another port: APP_PORT (METRICS_PORT for the metrics).`,
  EADDRNOTAVAIL: ({ address }) => `This machine has no address ${address}. Set HOST to one of its addresses.`,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ETIMEDOUT: unreachable,
  '08001': (_, said) =>
    `PostgreSQL cannot be used: ${said}. Start a server, or correct the hosts in DATABASE_URL.`,
  '08004': (_, said) =>
    `The PostgreSQL server of DATABASE_URL ${said}. Name the server that accepts writes, or several hosts, separated by commas.`,
  '28P01': refused,
  '28000': refused,
  '3D000': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. Create it (createdb <name>), or correct the name at the end of DATABASE_URL.`,
  '42501': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. The user needs the right to create tables in its schema.`,
  '53300': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. Each process of the service uses up to 11 connections: raise max_connections, or run fewer processes.`,
}

/**
 * Explains an error that a wrong setting of the machine causes, with the variable to change; undefined for
 * any other error. Urls do not occur in it, because they may contain a password (I11).
 */
export function explainSystemError(error: unknown): string | undefined {
  const [first] = (error as SystemError | undefined)?.errors ?? []
  // Node joins the errors of several addresses of one host.
  const one = (first ?? error ?? {}) as SystemError
  if (typeof one.code === 'string' && one.code === 'EACCES' && one.syscall === 'listen')
    return `This user may not listen on port ${one.port}. Choose a port above 1023: APP_PORT.`
  const explain = typeof one.code === 'string' ? EXPLANATIONS[one.code] : undefined
  return explain?.(one, one instanceof Error ? one.message : String(one.code))
}

function unreachable(_: SystemError, said: string): string {
  return `The PostgreSQL server of DATABASE_URL cannot be reached: ${said}. Start it, or correct host and port in DATABASE_URL; without DATABASE_URL the embedded database in DATA_DIR is used.`
}

function refused(_: SystemError, said: string): string {
  return `The PostgreSQL server of DATABASE_URL refuses the user: ${said}. Correct user and password in DATABASE_URL.`
}
