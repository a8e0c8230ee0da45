import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Command, EXIT, type Terminal, UsageError } from '../src/cli/command.ts'
import { refuseExisting, writeNew } from '../src/cli/files.ts'
import { readEngineUrl, readOpenZeppelinStorage } from '../src/config/api-access.ts'
import { parseJson, stringifyJson } from '../src/contract/exact-integers.ts'
import { importDefender } from './defender.ts'
import type { Draft } from './draft.ts'
import { importEngine } from './engine.ts'
import { importKora } from './kora.ts'
import { importOpenZeppelin } from './openzeppelin.ts'
import { createSecretOpener } from './openzeppelin-secrets.ts'

const OUT = [
  '  --out  The file to write; existing files are never overwritten. Without it, the configuration goes to standard output.',
  '',
  'What could not be taken, what to do, and the environment variables to set go to standard error. No secret is printed: the file refers to',
  'variables. Once they are set, relayer check-config must find no problem.',
]

/** `relayer import engine-v2`. */
export const importEngineV2: Command = {
  name: 'import engine-v2',
  summary: "Make a configuration of thirdweb Engine's wallets, relayers and webhooks.",
  usage: '[--chains <ids>] [--out <file>]',
  help: [
    "Reads Engine's PostgreSQL database at POSTGRES_CONNECTION_URL, Engine's own variable, in a transaction that cannot write. Wallets in AWS KMS and",
    'Google KMS become signers; each becomes a relayer on the chains that the database names for it. With --out, the encrypted keys of local',
    'wallets are written beside the file, to keys/<address>.json; ENCRYPTION_PASSWORD of Engine opens them.',
    '',
    '  --chains  Chain ids, separated by commas, on which every wallet also gets a relayer.',
    ...OUT,
    '',
    'Example: relayer import engine-v2 --chains 1,137 --out config/config.json',
  ],
  options: ['chains', 'out'],
  maxPositionals: 0,
  async run({ options }, terminal) {
    const chains = readChains(options.chains)
    const url = readEngineUrl()
    // The driver of PostgreSQL takes a fifth of a second to load.
    const { readEngine } = await import('./engine-store.ts')
    return finish(importEngine(await readEngine(url), chains), options.out, terminal)
  },
}

/** `relayer import openzeppelin`. */
export const importOpenZeppelinRelayer: Command = {
  name: 'import openzeppelin',
  summary: 'Make a configuration of the file and the Redis records of OpenZeppelin Relayer.',
  usage: '<config.json> [--records <file>] [--out <file>]',
  help: [
    'Its file works here as it is; this command leaves out what is not supported, and puts plain secrets into variables. What callers created over',
    'its API is in its Redis. Export those records with redis-cli, which changes nothing (oz-relayer is the default of REDIS_KEY_PREFIX):',
    '',
    '  for kind in relayer signer notification network; do',
    '    redis-cli SMEMBERS oz-relayer:"$kind"_list | xargs -I ID redis-cli GET oz-relayer:"$kind":ID',
    '  done > records.jsonl',
    '',
    'Secrets in records are encrypted; the file refers to variables in their place. With STORAGE_ENCRYPTION_KEY of that service (and REDIS_KEY_PREFIX,',
    'if it is not the default) and with --out, they are opened and written to secrets.env beside the file, which only you can read.',
    '',
    '  --records  The exported records, one JSON object in each line.',
    ...OUT,
    '',
    'Example: relayer import openzeppelin old/config.json --records records.jsonl --out config/config.json',
  ],
  options: ['records', 'out'],
  maxPositionals: 1,
  async run({ positionals: [file], options }, terminal) {
    if (!file) throw new UsageError('Name the file: relayer import openzeppelin <config.json>')
    const records = options.records === undefined ? [] : await readLines(options.records)
    const storage = records.length === 0 ? undefined : readOpenZeppelinStorage()
    const open = storage && createSecretOpener(storage)
    return finish(importOpenZeppelin(await readJson(file), records, open), options.out, terminal)
  },
}

/** `relayer import defender`. */
export const importDefenderRelayers: Command = {
  name: 'import defender',
  summary: 'Make a configuration of the relayers that OpenZeppelin Defender listed.',
  usage: '<relayers.json> [--out <file>]',
  help: [
    "Reads what client.relay.list() of Defender's SDK returned, saved as JSON. Each relayer keeps its name, network and policies. Its key could never",
    'be exported, so its signer is a key file that you create; the command says how.',
    '',
    ...OUT,
    '',
    'Example: relayer import defender relayers.json --out config/config.json',
  ],
  options: ['out'],
  maxPositionals: 1,
  async run({ positionals: [file], options }, terminal) {
    if (!file) throw new UsageError('Name the file: relayer import defender <relayers.json>')
    return finish(importDefender(await readJson(file)), options.out, terminal)
  },
}

/** `relayer import kora`. */
export const importKoraPaymaster: Command = {
  name: 'import kora',
  summary: 'Make a configuration of the files of Kora, a paymaster for Solana.',
  usage: '<kora.toml> [--signers <signers.toml>] [--network <name>] [--out <file>]',
  help: [
    "Makes a relayer with the policies of Kora's validation, its signer, and the entry of the plugin kora. Every key is taken, or named with the",
    'reason; docs/coming-from-kora.md has them all.',
    '',
    '  --signers  The file of signers. The first signer in memory becomes the fee payer, with its variable.',
    '  --network  mainnet-beta (the default), devnet or testnet.',
    ...OUT,
    '',
    'Example: relayer import kora kora.toml --signers signers.toml --out config/config.json',
  ],
  options: ['signers', 'network', 'out'],
  maxPositionals: 1,
  async run({ positionals: [file], options }, terminal) {
    if (!file) throw new UsageError('Name the file: relayer import kora <kora.toml>')
    const { network = 'mainnet-beta' } = options
    if (!SOLANA_NETWORKS.includes(network))
      throw new UsageError(`--network: expected ${SOLANA_NETWORKS.join(', ')}.`)
    const config = await readToml(file)
    const signers = options.signers === undefined ? {} : await readToml(options.signers)
    return finish(importKora({ config, signers, network }), options.out, terminal)
  },
}

const SOLANA_NETWORKS: readonly string[] = ['mainnet-beta', 'devnet', 'testnet']

async function readToml(file: string): Promise<unknown> {
  const text = await readText(file)
  // The parser is needed by this command alone.
  const { parse, TomlError } = await import('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    // The message of the parser quotes the text, which may be a secret (I11).
    const line = error instanceof TomlError ? ` (line ${error.line})` : ''
    throw new UsageError(`${file} is not TOML${line}.`)
  }
}

function readChains(text: string | undefined): number[] {
  const chains = (text ?? '').split(',').filter((part) => part.trim() !== '')
  if (!chains.every((part) => /^\s*[1-9]\d{0,14}\s*$/.test(part)))
    throw new UsageError('--chains: expected chain ids with commas between them, such as 1,137.')
  return chains.map(Number)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readText(file)
  try {
    return parseJson(text)
  } catch {
    // The message of the parser quotes the text, which may be a secret (I11).
    throw new UsageError(`${file} is not JSON.`)
  }
}

async function readLines(file: string): Promise<unknown[]> {
  const lines = (await readText(file)).split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [parseJson(line)]
    } catch {
      throw new UsageError(`Line ${index + 1} of ${file} is not JSON. Each line is one record.`)
    }
  })
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code}).`)
  })
}

/** Writes the configuration, and says everything about it. */
async function finish(draft: Draft, out: string | undefined, terminal: Terminal): Promise<number> {
  const { relayers, signers, notifications, plugins, networks, keyFiles } = draft
  if (relayers.length + signers.length === 0) {
    for (const line of listOf('Not taken:', draft.left)) terminal.err(line)
    throw new UsageError('There is no relayer and no signer that can be taken.')
  }
  const text = `${stringifyJson({ relayers, signers, notifications, networks, ...(plugins.length > 0 && { plugins }) }, 2)}\n`
  if (out === undefined) terminal.out(text.trimEnd())
  else await writeAll(draft, { out, text })
  const counts = [count(relayers, 'relayer'), count(signers, 'signer'), count(notifications, 'notification')]
  terminal.err(`Taken: ${counts.join(', ')}.${out === undefined ? '' : ` Written to ${out}.`}`)
  if (out === undefined && keyFiles.length > 0)
    draft.steps.push(
      `Repeat the command with --out to get ${count(keyFiles, 'encrypted key file')} beside the file.`,
    )
  noteSecrets(draft, out)
  for (const line of listOf('Not taken:', draft.left)) terminal.err(line)
  // The sentences name the usual folder.
  const folder = out === undefined ? 'config' : dirname(out)
  const steps = draft.steps.map((step) => step.replaceAll(' config/keys/', ` ${join(folder, 'keys')}/`))
  for (const line of listOf('To do:', steps)) terminal.err(line)
  const unset = [...draft.variables].filter(([name]) => out === undefined || !draft.secrets.has(name))
  const variables = unset.map(([name, meaning]) => `${name}: ${meaning}`)
  for (const line of listOf('To set, in the environment or in the .env beside the file:', variables))
    terminal.err(line)
  terminal.err('Then run: relayer check-config')
  return EXIT.ok
}

/** The file of the secrets that were opened, beside the configuration. */
const SECRETS_FILE = 'secrets.env'

function noteSecrets({ secrets, steps }: Draft, out: string | undefined): void {
  if (secrets.size === 0) return
  const opened = `${secrets.size} secret${secrets.size === 1 ? '' : 's'}`
  steps.push(
    out === undefined
      ? `Repeat the command with --out to get ${opened} of the records beside the file.`
      : `Add the lines of ${join(dirname(out), SECRETS_FILE)} (${opened} of the records) to the .env beside the file or to the environment, and delete that file.`,
  )
}

async function writeAll(
  { keyFiles, secrets }: Draft,
  { out, text }: { readonly out: string; readonly text: string },
) {
  const opened = [...secrets].map(([name, secret]) => `${name}=${secret}\n`).join('')
  const files = opened === '' ? keyFiles : [...keyFiles, { path: SECRETS_FILE, text: opened }]
  const keys = files.map((key) => ({ ...key, path: join(dirname(out), key.path) }))
  await refuseExisting([out, ...keys.map(({ path }) => path)])
  for (const key of keys) await writeNew(key.path, key.text)
  // The configuration is written last, because its presence means that its keys are there.
  await writeNew(out, text, 0o644)
}

function listOf(title: string, sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ['', title, ...sentences.map((sentence) => `  - ${sentence}`)]
}

function count(items: readonly unknown[], what: string): string {
  return `${items.length} ${what}${items.length === 1 ? '' : 's'}`
}
