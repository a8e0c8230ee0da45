import {
  Address,
  Contract,
  type Keypair,
  Memo,
  rpc,
  SorobanDataBuilder,
  type Transaction,
  xdr,
} from '@stellar/stellar-sdk'
import type { Program } from '../soroban/contracts.ts'
import type { LedgerOptions } from '../start-ledger.ts'
import { type Desk, openDesk } from './desk.ts'

/** The codes of a successful call. */
export const INVOKED = ['txSuccess', 'invokeHostFunctionSuccess']

const COUNT = xdr.ScVal.scvSymbol('count')

/** Counts, for those who agree to it. */
export const COUNTER: Program = {
  increment(env, who) {
    env.requireAuth(addressOf(who))
    const known = env.get(COUNT)
    const next = xdr.ScVal.scvU32((known?.type === 'scvU32' ? known.u32 : 0) + 1)
    env.set(COUNT, next)
    env.emit([xdr.ScVal.scvSymbol('increment')], next)
    return next
  },
  fail: (env) => env.trap('as asked'),
}

/** The differences of a transaction from the default. */
export interface Difference {
  readonly data?: (data: SorobanDataBuilder) => SorobanDataBuilder
  readonly operations?: readonly xdr.Operation[]
  readonly memo?: Memo
}

/** A desk for contract transactions. */
export interface ContractDesk extends Desk {
  simulate(
    source: Keypair,
    operation: xdr.Operation,
  ): Promise<{ draft: Transaction; simulation: rpc.Api.SimulateTransactionResponse }>
  /** Simulates a transaction, adds the results of the simulation, and signs it. */
  prepare(source: Keypair, operation: xdr.Operation): Promise<Transaction>
  run(source: Keypair, operation: xdr.Operation): Promise<string[]>
  /** Returns the value of a call, by its simulation. */
  ask(source: Keypair, operation: xdr.Operation): Promise<xdr.ScVal | undefined>
  /** The same transaction with a difference, as the next of its source, with a fee for its resources whatever they are. */
  vary(prepared: Transaction, source: Keypair, difference: Difference): Transaction
}

/** Opens a desk for contract transactions. */
export async function openContractDesk(options: LedgerOptions = {}): Promise<ContractDesk> {
  const desk = await openDesk(options)
  const simulate: ContractDesk['simulate'] = async (source, operation) => {
    const draft = desk.build(source, [operation], { signers: [], fee: '1000' })
    return { draft, simulation: await desk.client.simulateTransaction(draft) }
  }
  const prepare: ContractDesk['prepare'] = async (source, operation) => {
    const { draft, simulation } = await simulate(source, operation)
    const ready = rpc.assembleTransaction(draft, simulation).build()
    ready.sign(source)
    return ready
  }
  return {
    ...desk,
    simulate,
    prepare,
    run: async (source, operation) => desk.apply(await prepare(source, operation)),
    async ask(source, operation) {
      const { simulation } = await simulate(source, operation)
      return rpc.Api.isSimulationSuccess(simulation) ? simulation.result?.retval : undefined
    },
    vary(prepared, source, difference) {
      const builder = new SorobanDataBuilder(dataOf(prepared))
      const sorobanData = (difference.data?.(builder) ?? builder).build()
      return desk.build(source, difference.operations ?? prepared.tx.operations, {
        fee: String(sorobanData.resourceFee + 1000n),
        change: (draft) => draft.setSorobanData(sorobanData).addMemo(difference.memo ?? Memo.none()),
      })
    },
  }
}

/** The resources that a contract transaction declares. */
export function dataOf({ tx: { ext } }: Transaction): xdr.SorobanTransactionData {
  if (ext.type !== 'sorobanData') throw new Error('It has no resources.')
  return ext.sorobanData
}

/** The address in an argument. */
export function addressOf(value: xdr.ScVal | undefined): string {
  if (!value) throw new Error('An argument is missing.')
  return Address.fromScVal(value).toString()
}

/** An account as an argument. */
export function person(keys: Keypair): xdr.ScVal {
  return new Address(keys.publicKey()).toScVal()
}

/** A call of {@link COUNTER}. */
export function increment(contract: string, who: Keypair): xdr.Operation {
  return new Contract(contract).call('increment', person(who))
}
