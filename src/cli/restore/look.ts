import type { Schemas } from '../../contract/operations.ts'
import { type ApiClient, pathOf, queryOf } from '../api/api-command.ts'
import { type Endpoint, EndpointError, type Evidence } from './endpoint.ts'
import { type ChainTransaction, compare, findSince } from './evm.ts'
import { findSolanaEvidence } from './solana.ts'
import { OPEN, PER_PAGE } from './unfinished.ts'

type Relayer = Schemas['Relayer']
type Transaction = Schemas['Transaction']
type EvmTransaction = Extract<Transaction, { network_type: 'evm' }>

/**
 * Returns what the chain shows about an open transaction; undefined for one whose bytes are unchanged, so that
 * it can be executed only once.
 */
type Look = (transaction: Transaction) => Evidence | undefined

const unseen = (why: string): Evidence => ({ included: undefined, seen: `${why} Look in a block explorer.` })

/** Compares the open transactions of a relayer with its chain, as far as the endpoint shows it. */
export async function look(
  client: ApiClient,
  endpoint: Endpoint | undefined,
  { relayer, transactions }: { readonly relayer: Relayer; readonly transactions: readonly Transaction[] },
): Promise<Look> {
  if (endpoint === undefined) return () => unseen('No node was asked.')
  const found = new Map<string, Evidence | undefined>()
  // Each account of a pool has a history of its own.
  for (const [account, open] of Map.groupBy(transactions, ({ from }) => from)) {
    const seen = await lookAt(client, endpoint, { relayer, account, open })
    for (const transaction of open) found.set(transaction.id, seen(transaction))
  }
  return ({ id }) => found.get(id)
}

interface Account {
  readonly relayer: Relayer
  readonly account: string
  readonly open: readonly Transaction[]
}

async function lookAt(client: ApiClient, endpoint: Endpoint, account: Account): Promise<Look> {
  try {
    switch (account.relayer.network_type) {
      case 'evm':
        return await lookOnEvm(client, endpoint, account)
      case 'solana':
        return await lookOnSolana(client, endpoint, account)
      case 'stellar':
        // Its RPC has no method for the transactions of one account.
        return () => unseen('Nodes of Stellar do not list the transactions of an account.')
    }
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    return () => unseen(`The node does not show it (${error.message}).`)
  }
}

async function lookOnEvm(
  client: ApiClient,
  endpoint: Endpoint,
  { relayer, account, open }: Account,
): Promise<Look> {
  if ((await chainIdOf(client, relayer)) !== BigInt(await endpoint.call<string>('eth_chainId', [])))
    return () => unseen('The node is of another network.')
  const newest = await newestNonce(client, { relayer, account })
  const count = BigInt(await endpoint.call<string>('eth_getTransactionCount', [account, 'latest']))
  // A node that is behind, or a chain that began again, would show none of what was sent since.
  if (count <= newest)
    throw new EndpointError(`it counts ${count} transactions of ${account}, fewer than the records`)
  const isOpen = new Set(open.map(({ id }) => id))
  const unexplained: ChainTransaction[] = []
  for (const one of await findSince(endpoint, { account, nonce: newest + 1n })) {
    const id = await recordOf(client, one.hash)
    if (id === undefined || isOpen.has(id)) unexplained.push(one)
  }
  const found = compare(open as readonly EvmTransaction[], unexplained, account)
  return ({ id }) => found.get(id)
}

/** Returns the id of the record that has a hash. */
async function recordOf(client: ApiClient, hash: string): Promise<string | undefined> {
  const { data } = await client.call<Transaction[]>('GET', `/transactions${queryOf({ hash })}`)
  return data[0]?.id
}

async function chainIdOf(client: ApiClient, { network_type, network }: Relayer): Promise<bigint | undefined> {
  const { data } = await client.call<Schemas['Network'] & { readonly chain_id?: number | bigint }>(
    'GET',
    pathOf('networks', `${network_type}:${network}`),
  )
  return data.chain_id === undefined ? undefined : BigInt(data.chain_id)
}

/** The most pages of records that are read for one account. */
const MAX_PAGES = 100

/**
 * Returns the nonce of the newest record of an account that a block includes; -1 without one. Transactions that
 * were sent after a backup have higher ones. Records with higher ones are told apart by their hash.
 */
async function newestNonce(
  client: ApiClient,
  { relayer, account }: Pick<Account, 'relayer' | 'account'>,
): Promise<bigint> {
  for await (const page of newestIncluded(client, relayer))
    for (const one of page)
      if (one.network_type === 'evm' && one.from === account && one.receipt && one.nonce !== undefined)
        return BigInt(one.nonce)
  return -1n
}

async function lookOnSolana(
  client: ApiClient,
  endpoint: Endpoint,
  { relayer, account, open }: Account,
): Promise<Look> {
  const since = Math.min(...open.map(({ created_at }) => Date.parse(created_at)))
  const anchors = new Set<string>()
  for await (const page of newestIncluded(client, relayer)) {
    for (const { status, from, hash, created_at } of page)
      if (status === 'confirmed' && from === account && hash !== undefined && Date.parse(created_at) < since)
        anchors.add(hash)
    if (anchors.size > 0) break
  }
  const found = await findSolanaEvidence(endpoint, {
    account,
    open,
    since,
    anchors,
    recordOf: (signature) => recordOf(client, signature),
  })
  return ({ id }) => found.get(id)
}

/**
 * Reads the records of a relayer that are not open, newest first, page by page.
 * @throws EndpointError if the newest ones were not enough
 */
async function* newestIncluded(client: ApiClient, { id }: Relayer): AsyncGenerator<readonly Transaction[]> {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = queryOf({ page: `${page}`, per_page: `${PER_PAGE}` })
    const { data } = await client.call<Transaction[]>(
      'GET',
      `${pathOf('relayers', id, 'transactions')}${query}`,
    )
    yield data.filter(({ status }) => !OPEN.some((one) => one === status))
    if (data.length < PER_PAGE) return
  }
  throw new EndpointError(`the newest ${MAX_PAGES * PER_PAGE} records have none of the account`)
}
