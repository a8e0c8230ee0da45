import {
  InvokeHostFunctionOp,
  Operation,
  OperationBody,
  type SorobanAuthorizationEntry,
  SorobanTransactionData,
  type Transaction,
  TransactionExt,
} from '@stellar/stellar-sdk/xdr'
import type { Answer, Refusal } from '../../answer.ts'
import { withFields } from '../model/envelope.ts'
import type { SorobanAuth } from '../model/operation.ts'
import { MAX_PLAIN_FEE } from './fees.ts'
import { type Simulation, type SimulationContext, simulate } from './simulate.ts'

/**
 * The margin on the resource fee, in percent: rent and the size of the entries may grow until the ledger closes. The network returns the
 * unused part of it (CAP-46-07, "refundable fee").
 */
const RESOURCE_MARGIN_PERCENT = 15n

/** Ready content, or the entries that have to be restored first. */
export type Assembled =
  | { readonly kind: 'ready'; readonly tx: Transaction }
  | { readonly kind: 'restore'; readonly transactionData: string }

/** Returns true for a transaction of smart contracts. */
export function isSorobanTransaction({ operations }: Transaction): boolean {
  const [first] = operations
  return (
    first?.body.type === 'invokeHostFunction' ||
    first?.body.type === 'extendFootprintTtl' ||
    first?.body.type === 'restoreFootprint'
  )
}

/** Adds the resources, the resource fee and the authorization that a simulation found necessary. */
export async function assemble(
  context: SimulationContext,
  tx: Transaction,
  auth: SorobanAuth | undefined,
): Promise<Answer<Assembled>> {
  return simulate(context, tx, (simulation) => assembleBy(simulation, tx, auth))
}

function assembleBy(
  simulation: Simulation,
  tx: Transaction,
  auth: SorobanAuth | undefined,
): Answer<Assembled> {
  const { restore } = simulation
  if (restore !== undefined) {
    const refusal = tooDear(restore)
    if (refusal) return { kind: 'refused', refusal }
    return { kind: 'ok', value: { kind: 'restore', transactionData: restore.toXdr('base64') } }
  }
  const refusal = missingAuth(tx, simulation.auth, auth) ?? tooDear(simulation)
  if (refusal) return { kind: 'refused', refusal }
  const operations = tx.operations.map((operation) => withAuth(operation, simulation))
  const filled = withResources(withFields(tx, { operations }), simulation.data, simulation.resourceFee)
  return { kind: 'ok', value: { kind: 'ready', tx: filled } }
}

/** Returns the transaction with these resources and their fee, margin included. */
export function withResources(
  tx: Transaction,
  { ext, resources }: SorobanTransactionData,
  minResourceFee: bigint,
): Transaction {
  const resourceFee = (minResourceFee * (100n + RESOURCE_MARGIN_PERCENT) + 99n) / 100n
  const data = new SorobanTransactionData({ ext, resources, resourceFee })
  return withFields(tx, { ext: TransactionExt.sorobanData(data) })
}

/**
 * Returns an authorization that the service cannot sign. The signature under the transaction is the source's own agreement; where the
 * caller sent entries, the node has run the call with them and with no others.
 */
function missingAuth(
  { operations }: Transaction,
  found: readonly SorobanAuthorizationEntry[],
  auth: SorobanAuth | undefined,
): Refusal | undefined {
  if (found.length === 0 || operations.some(hasEntries)) return undefined
  if (auth?.type === 'none') {
    return reverted('operations[0].auth: the call asks for an authorization, so none is not enough.')
  }
  return found.some(({ credentials }) => credentials.type !== 'sorobanCredentialsSourceAccount')
    ? reverted(
        "operations[0].auth: the call asks for the authorization of others than the relayer's own account; give their signed entries as xdr.",
      )
    : undefined
}

function reverted(detail: string): Refusal {
  return { code: 'execution_reverted', detail }
}

/** The whole fee must fit into a transaction, and a part of it must remain for inclusion. */
function tooDear({ resourceFee }: Pick<Simulation, 'resourceFee'>): Refusal | undefined {
  if (resourceFee * 2n <= MAX_PLAIN_FEE) return undefined
  const detail = `The resources of this call cost ${resourceFee} stroops, more than a transaction can pay.`
  return { code: 'fee_above_cap', detail }
}

function hasEntries({ body }: Operation): boolean {
  return body.type === 'invokeHostFunction' && body.invokeHostFunctionOp.auth.length > 0
}

/** Entries of the caller stay unchanged; the node has run the call with them. */
function withAuth(operation: Operation, { auth }: Simulation): Operation {
  const { body, sourceAccount } = operation
  if (body.type !== 'invokeHostFunction' || hasEntries(operation)) return operation
  const { hostFunction } = body.invokeHostFunctionOp
  const invocation = new InvokeHostFunctionOp({ hostFunction, auth: [...auth] })
  return new Operation({ sourceAccount, body: OperationBody.invokeHostFunction(invocation) })
}
