import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getAddressEncoder, getBase58Decoder } from '@solana/kit'
import { RpcFault } from '../json-rpc.ts'
import type { TestSolana } from './start-solana.ts'
import { createWallet } from './wallet.ts'

/**
 * A stand-in of the block engine of Jito, with its JSON-RPC at `/api/v1/bundles`: `sendBundle`, `getBundleStatuses` and `getTipAccounts`.
 * It simulates each transaction by itself, drops the bundle if one fails, and otherwise gives all of them to the node in their order.
 * Auctions and the order within a block are not modelled.
 */
export interface BlockEngine {
  readonly url: string
  /** The accounts of which a bundle must tip one. */
  readonly tipAccounts: readonly string[]
  /** The bundles that it has taken, by their ids. */
  readonly bundles: ReadonlyMap<string, readonly string[]>
  /** It takes bundles from now on without an answer. */
  silence(isSilent: boolean): void
  stop(): void
}

const MAX_TRANSACTIONS = 5
const INVALID = -32602

/** Starts it in front of a network. */
export async function startBlockEngine(solana: TestSolana): Promise<BlockEngine> {
  const tipAccounts = Array.from({ length: 8 }, () => createWallet().address)
  for (const account of tipAccounts) solana.airdrop(account, 1_000_000_000n)
  const bundles = new Map<string, readonly string[]>()
  let isSilent = false

  async function ask(
    method: string,
    params: readonly unknown[],
  ): Promise<{ result?: unknown; error?: unknown }> {
    const response = await fetch(solana.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as { result?: unknown; error?: unknown }
  }

  async function send(transactions: readonly string[]): Promise<string> {
    if (transactions.length < 1 || transactions.length > MAX_TRANSACTIONS)
      throw new RpcFault(INVALID, `bundles have 1 to ${MAX_TRANSACTIONS} transactions`)
    const wires = transactions.map((one) => Buffer.from(one, 'base64'))
    // The address of an account that a transaction names is in its bytes.
    const tips = tipAccounts.map((account) => Buffer.from(getAddressEncoder().encode(account)))
    if (!wires.some((wire) => tips.some((tip) => wire.includes(tip))))
      throw new RpcFault(INVALID, 'bundles must write lock at least one tip account')
    const signatures = wires.map((wire) => getBase58Decoder().decode(wire.subarray(1, 65)))
    const id = createHash('sha256').update(signatures.join(',')).digest('hex')
    const isKnown = bundles.has(id)
    bundles.set(id, signatures)
    if (isKnown) return id
    for (const one of transactions) {
      const options = { encoding: 'base64', sigVerify: true, commitment: 'processed' }
      const { result, error } = await ask('simulateTransaction', [one, options])
      const { value } = (result ?? {}) as { value?: { err: unknown } }
      if (error !== undefined || value?.err !== null) return id
    }
    for (const one of transactions)
      await ask('sendTransaction', [one, { encoding: 'base64', skipPreflight: true }])
    return id
  }

  function statuses(ids: readonly string[]): unknown {
    const value = ids.map((id) => {
      const transactions = bundles.get(id) ?? []
      const isIncluded = transactions.length > 0 && transactions.every((one) => solana.included(one))
      return isIncluded
        ? { bundle_id: id, transactions, confirmation_status: 'confirmed', err: { Ok: null } }
        : null
    })
    return { context: { slot: Number(solana.slot()) }, value }
  }

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first] = params as [readonly string[] | undefined]
    if (method === 'getTipAccounts') return tipAccounts
    if (method === 'getBundleStatuses') return statuses(first ?? [])
    if (method === 'sendBundle') return send(first ?? [])
    throw new RpcFault(-32601, 'there is no such method')
  }

  const server: Server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request)) as {
      id: number
      method: string
      params: unknown[]
    }
    const reply = await answer(method, params).then(
      (result) => ({ result }),
      (error: unknown) => ({
        error: { code: (error as RpcFault).code, message: (error as RpcFault).message },
      }),
    )
    if (isSilent) request.socket.destroy()
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tipAccounts,
    bundles,
    silence: (silent) => {
      isSilent = silent
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
