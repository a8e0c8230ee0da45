import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Chain } from '../../chains/chain.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import {
  type CalledFunction,
  findCalled,
  type RegisteredFunction,
} from '../../relayers/interfaces/interfaces-store.ts'

type Transaction = Schemas['Transaction']
type DecodingChain = Pick<Chain, 'contractCalls' | 'canonicalAddress'>

/** Gives the chain of a relayer; undefined for one that was removed, whose calls are not decoded. */
export type ChainOfRelayer = (relayerId: string) => DecodingChain | undefined

/**
 * Adds `decoded_call` to the transactions that call a known function of a contract, with one query for all of
 * them, and with none when nothing has data. Records and events store only the data, so an ABI that is
 * registered later also decodes earlier transactions.
 */
export async function withDecodedCalls<T extends Transaction>(
  db: Db,
  transactions: readonly T[],
  chainOf: ChainOfRelayer,
): Promise<T[]> {
  const calls = transactions.map((transaction) => callsOf(transaction, chainOf(transaction.relayer_id)))
  const wanted = new Map(calls.flatMap(({ shown, requested }) => [...keyed(shown), ...keyed(requested)]))
  const found = await findCalled(db, [...wanted.values()])
  const registered = new Map(found.map((one) => [keyOf(one), one]))
  const decode = (call: Call | undefined) => call && decodeCall(call, registered.get(keyOf(call)))
  const decoded: T[] = []
  let turnEnds = performance.now() + TURN_MS
  for (const [index, transaction] of transactions.entries()) {
    const { shown, requested } = calls[index] ?? {}
    decoded.push(withDecoded(transaction, { shown: decode(shown), requested: decode(requested) }))
    if (performance.now() < turnEnds) continue
    await endOfTurn()
    turnEnds = performance.now() + TURN_MS
  }
  return decoded
}

type DecodedCall = Schemas['DecodedCall']

function withDecoded<T extends Transaction>(
  transaction: T,
  { shown, requested }: { shown: DecodedCall | undefined; requested: DecodedCall | undefined },
): T {
  return {
    ...transaction,
    ...(shown && { decoded_call: shown }),
    ...(requested && { requested: { ...transaction.requested, decoded_call: requested } }),
  }
}

/** Decoding a page runs for this long before it yields to other work, in ms. One call takes up to five. */
const TURN_MS = 10

interface Call extends CalledFunction {
  readonly data: string
  readonly chain: DecodingChain
}

/** The calls of the shown content, and of the requested one where it differs. */
function callsOf(
  transaction: Transaction,
  chain: DecodingChain | undefined,
): { shown?: Call | undefined; requested?: Call | undefined } {
  if (transaction.network_type !== 'evm' || chain?.contractCalls === undefined) return {}
  const { id, relayer_id: relayerId, requested } = transaction
  const awaiting = transaction.awaits_approval === true ? id : undefined
  const callOf = ({ to, data }: { readonly to?: string; readonly data?: string }): Call | undefined => {
    const key = data === undefined ? undefined : chain.contractCalls?.keyOf(data)
    // Without a receiver, the data is the code of a new contract.
    if (to === undefined || data === undefined || key === undefined) return undefined
    return { relayerId, address: chain.canonicalAddress(to), key, awaiting, data, chain }
  }
  return { shown: callOf(transaction), requested: requested && callOf(requested) }
}

function keyed(call: Call | undefined): [string, Call][] {
  return call === undefined ? [] : [[keyOf(call), call]]
}

function keyOf({ relayerId, address, key, awaiting = '' }: CalledFunction): string {
  return `${relayerId} ${address} ${key} ${awaiting}`
}

function decodeCall(
  { chain, data }: Call,
  registered: RegisteredFunction | undefined,
): DecodedCall | undefined {
  const decoded = chain.contractCalls?.decode(data, registered?.called)
  if (decoded === undefined) return undefined
  return {
    function: decoded.function,
    contract_name: registered?.contractName ?? null,
    source: decoded.source,
    args: decoded.args.map(({ name, type, value }) => ({ name, type, value })),
  }
}
