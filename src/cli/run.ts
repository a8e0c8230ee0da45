import { parseArgs } from 'node:util'
import { ConfigError, MissingConfigError, UnreadableConfigError } from '../lib/config-errors.ts'
import { maskUrls } from '../log.ts'
import { relayersList, relayersPause, relayersResume } from './api/relayers.ts'
import { report } from './api/report.ts'
import { restoreAccept, restoreCheck } from './api/restore.ts'
import {
  txApprove,
  txCancel,
  txFollow,
  txList,
  txRefuse,
  txReplace,
  txSend,
  txShow,
  txWhy,
} from './api/transactions.ts'
import { auditVerify } from './audit-verify.ts'
import { changeStorageKey } from './change-storage-key.ts'
import { checkConfig } from './check-config.ts'
import { type Arguments, type Command, EXIT, type Terminal, UsageError } from './command.ts'
import { explainSystemError } from './explain-system-error.ts'
import { health } from './health.ts'
import { init } from './init.ts'
import { keysChangePassphrase } from './keys/change-passphrase.ts'
import { keysCreate } from './keys/create.ts'
import { keysImport } from './keys/import.ts'
import { keysImportTo } from './keys/import-to.ts'
import { keysShow } from './keys/show.ts'
import { migrateCommand } from './migrate.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { relayerCommand } from './shell-commands.ts'
import { txDecide } from './tx-decide.ts'
import { unknownCommand } from './unknown-command.ts'
import { version } from './version.ts'

const COMMANDS: readonly Command[] = [
  serve,
  init,
  keysCreate,
  keysImport,
  keysShow,
  keysChangePassphrase,
  keysImportTo,
  changeStorageKey,
  checkConfig,
  migrateCommand,
  txSend,
  txList,
  txShow,
  txReplace,
  txCancel,
  txApprove,
  txRefuse,
  txWhy,
  txFollow,
  txDecide,
  relayersList,
  relayersPause,
  relayersResume,
  restoreCheck,
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
    terminal.out(version())
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
