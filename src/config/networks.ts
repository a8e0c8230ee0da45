import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { flag, oneOf, openReader, type Reader, text } from '../lib/fields.ts'
import { CATALOGUE } from '../networks/catalogue/catalogue.ts'
import type { CatalogueEntry } from '../networks/catalogue/entry.ts'
import { NETWORK_FAMILIES } from '../networks/families/families.ts'
import type { SharedFields } from '../networks/families/family.ts'
import { NETWORK_TYPES, type Network } from '../networks/network.ts'
import { readRpcUrls } from '../networks/read-urls.ts'
import { readTokens } from '../networks/tokens.ts'
import { rpcMethod } from '../relayers/policies/common.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import { parseFile, resolveFile, type Sources, withUrls } from './sources.ts'

/** The reader looks for this folder when the file has no "networks". */
const DEFAULT_FOLDER = 'networks'

interface Item {
  readonly value: unknown
  readonly path: string
}

/**
 * Reads the networks of the file: a list, or the name (default `networks`) of a folder whose `*.json` files
 * each hold `{ "networks": […] }`. The list is empty when the file has none and the default folder is absent:
 * the catalogue may suffice.
 */
export function readNetworks(file: Reader, sources: Sources, problems: string[]): Network[] {
  const items = listNetworks(file, sources, problems).map(({ value, path }) => ({
    value: withUrls(value, { path, sources, problems }),
    path,
  }))
  return readItems(inherit(items, problems), problems)
}

/** Returns the networks of the catalogue that these relayers name and the file does not describe. */
export function knownNetworks(
  relayers: readonly RelayerConfig[],
  described: readonly Network[],
  problems: string[],
): Network[] {
  const missing = CATALOGUE.filter(
    (entry) =>
      relayers.some(({ networkType, network }) => networkType === entry.type && network === entry.network) &&
      !described.some(({ type, name }) => type === entry.type && name === entry.network),
  )
  return missing.flatMap((entry) => {
    const item = { value: entry, path: `the well-known network "${entry.network}"` }
    if (entry.rpc_urls !== undefined) return readItems([item], problems)
    problems.push(withoutEndpoint(entry))
    return readItems([item], [])
  })
}

function withoutEndpoint({ type, network }: CatalogueEntry): string {
  const example = `{ "type": "${type}", "network": "${network}", "from": "${network}", "rpc_urls": ["https://…"] }`
  return `the well-known network "${network}" has no public endpoint; add yours to "networks": ${example}`
}

/** Returns every network of the catalogue. A network without a public endpoint has no url. */
export function wellKnownNetworks(): Network[] {
  // Entries of the catalogue may have no URLs; their problems are dropped, because the relayer then has its
  // own.
  return readItems(
    CATALOGUE.map((value) => ({ value, path: value.network })),
    [],
  )
}

function readItems(items: readonly Item[], problems: string[]): Network[] {
  return items.flatMap((item) => {
    const reader = openReader(item.value, item.path, problems)
    if (!reader) return []
    const network = readNetwork(reader, problems)
    reader.finish()
    return [network]
  })
}

function listNetworks(file: Reader, sources: Sources, problems: string[]): Item[] {
  const value = file.raw('networks')
  if (typeof value === 'string')
    return readFolder(resolveFile(value, sources), problems, resolve(sources.cwd, value))
  if (value !== undefined) return file.items('networks')
  const folder = resolveFile(DEFAULT_FOLDER, sources)
  return existsSync(folder) ? readFolder(folder, problems) : []
}

function readNetwork(reader: Reader, problems: string[]): Network {
  const isTestnet = reader.find('is_testnet', flag) ?? false
  const rpcUrls = readRpcUrls(reader, 'rpc_urls', problems)
  if (rpcUrls.length === 0) reader.problem('has no usable URL in "rpc_urls"')
  // `inherit` has filled in the parent's fields.
  reader.ignore('from')
  const explorerUrls = reader.list('explorer_urls', text)
  const tags = reader.list('tags', text)
  const extraRpcMethods = reader.list('extra_rpc_methods', rpcMethod)
  const type = reader.get('type', networkType)
  const tokens = readTokens(reader, type)
  const shared: SharedFields = {
    name: reader.get('network', text),
    isTestnet,
    rpcUrls,
    ...(explorerUrls.length > 0 && { explorerUrls }),
    ...(tags.length > 0 && { tags }),
    ...(extraRpcMethods.length > 0 && { extraRpcMethods }),
    ...(tokens.length > 0 && { tokens }),
  }
  // An unknown type is a problem, after which the blank one finds further problems; a run with problems
  // returns no network.
  return NETWORK_FAMILIES[type].read(reader, shared, problems)
}

const networkType = oneOf(...NETWORK_TYPES)

/** `other`: the second place where the folder may be (`resolveFile`), for the message. */
function readFolder(folder: string, problems: string[], other = folder): Item[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    return names.sort().flatMap((name) => {
      const parsed = parseFile(readFileSync(join(folder, name), 'utf8'), name, problems)
      const reader = parsed === undefined ? undefined : openReader(parsed, name, problems)
      return reader?.items('networks') ?? []
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const places =
      other === folder
        ? folder
        : `${folder} (beside the configuration file) or ${other} (from the working directory)`
    problems.push(`networks: the folder ${places} cannot be read (${code})`)
    return []
  }
}

type Fields = Record<string, unknown>

/** A child adds to these lists; every other field of the child replaces the parent's. */
const UNITED = ['tags', 'features']

/**
 * Completes each network that names a parent in `from`: a network of the same type in the file, or else in
 * the catalogue. A network that names itself extends the catalogue's entry, so a well-known network gets
 * other URLs and keeps everything else. A value that is not an object is unchanged, and the reader reports
 * it.
 */
function inherit(items: readonly Item[], problems: string[]): Item[] {
  const wellKnown = byKey(CATALOGUE.map((entry) => ({ ...entry })))
  const known = new Map([...wellKnown, ...byKey(items.map(({ value }) => value))])

  function complete(fields: Fields, seen: readonly string[], path: string): Fields {
    if (fields.from === undefined) return fields
    const parentKey = `${fields.type}/${fields.from}`
    const namesItself = parentKey === keyOf(fields)
    const parent = (namesItself ? wellKnown : known).get(parentKey)
    if (parent === undefined || (!namesItself && seen.includes(parentKey))) {
      const circle = seen.includes(parentKey)
      problems.push(
        `${path}.from names ${circle ? 'itself in a circle' : `"${fields.from}", which does not exist`}`,
      )
      return fields
    }
    return merge(complete(parent, [...seen, parentKey], path), fields)
  }

  return items.map(({ value, path }) => ({
    path,
    value: isFields(value) ? complete(value, [keyOf(value)], path) : value,
  }))
}

function merge(parent: Fields, child: Fields): Fields {
  const united = UNITED.filter((key) => Array.isArray(parent[key]) && Array.isArray(child[key])).map(
    (key) => [key, [...new Set([...(parent[key] as unknown[]), ...(child[key] as unknown[])])]],
  )
  return { ...parent, ...child, ...Object.fromEntries(united) }
}

function byKey(values: readonly unknown[]): Map<string, Fields> {
  return new Map(values.map((value) => [keyOf(value), value as Fields]))
}

function keyOf(value: unknown): string {
  return isFields(value) ? `${value.type}/${value.network}` : ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
