import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_BLOCKTIME_MS, defaultConfirmations } from '../networks/defaults.ts'
import type { Network } from '../networks/network.ts'
import { flag, oneOf, text, whole } from './field-types.ts'
import { inherit } from './inherit.ts'
import { parseFile } from './parse-file.ts'
import { openReader, type Reader } from './reader.ts'
import { readRpcUrls } from './rpc-urls.ts'
import { resolveFile, type Sources } from './sources.ts'

const MAX_CONFIRMATIONS = 10_000

/** Tags, as existing network files have them, of networks whose sequencer keeps no public pool. */
const WITHOUT_MEMPOOL = ['no-mempool', 'arbitrum-based', 'optimism-based', 'optimism']

/** Looked for when the file has no "networks". */
const DEFAULT_FOLDER = 'networks'

interface Item {
  readonly value: unknown
  readonly place: string
}

/**
 * The networks of the file: a list, or the name (default `networks`) of a folder whose `*.json` files each hold `{ "networks": […] }`. Only
 * EVM networks are read; existing folders describe all kinds, and a relayer on another kind is refused elsewhere.
 */
export function readNetworks(file: Reader, sources: Sources, problems: string[]): Network[] {
  const items = listNetworks(file, sources, problems)
  return inherit(items, problems)
    .filter((item) => !isOtherKind(item.value))
    .flatMap((item) => {
      const reader = openReader(item.value, item.place, problems)
      if (!reader) return []
      const network = readNetwork(reader, problems)
      reader.finish()
      return [network]
    })
}

function listNetworks(file: Reader, sources: Sources, problems: string[]): Item[] {
  const value = file.raw('networks')
  if (typeof value === 'string') return readFolder(resolveFile(value, sources), problems)
  if (value !== undefined) return file.items('networks')
  const folder = resolveFile(DEFAULT_FOLDER, sources)
  if (existsSync(folder)) return readFolder(folder, problems)
  file.problem('networks is missing: it must be a list, or the name of a folder')
  return []
}

function readNetwork(reader: Reader, problems: string[]): Network {
  const isTestnet = reader.find('is_testnet', flag) ?? false
  const rpcUrls = readRpcUrls(reader, 'rpc_urls', problems)
  if (rpcUrls.length === 0) reader.problem('has no usable url in "rpc_urls"')
  // Of use to other programs that read the same files.
  reader.ignore('from', 'explorer_urls', 'gas_price_cache')
  return {
    type: reader.get('type', oneOf('evm')),
    name: reader.get('network', text),
    chainId: reader.get('chain_id', whole(1)),
    symbol: reader.get('symbol', text),
    isTestnet,
    features: reader.list('features', oneOf('eip1559')),
    mempool: !reader.list('tags', text).some((tag) => WITHOUT_MEMPOOL.includes(tag)),
    averageBlocktimeMs: reader.find('average_blocktime_ms', whole(1, 3_600_000)) ?? DEFAULT_BLOCKTIME_MS,
    requiredConfirmations:
      reader.find('required_confirmations', whole(0, MAX_CONFIRMATIONS)) ?? defaultConfirmations(isTestnet),
    rpcUrls,
  }
}

function readFolder(folder: string, problems: string[]): Item[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    return names.sort().flatMap((name) => {
      const parsed = parseFile(readFileSync(join(folder, name), 'utf8'), name, problems)
      const reader = parsed === undefined ? undefined : openReader(parsed, name, problems)
      return reader?.items('networks') ?? []
    })
  } catch (error) {
    problems.push(`networks: the folder ${folder} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return []
  }
}

function isOtherKind(value: unknown): boolean {
  const type = (value as { type?: unknown } | null)?.type
  return type === 'stellar' || type === 'solana'
}
