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
 * Added to the resource fee, in percent: rent and the size of what is read may have grown by the time of the ledger. What is
 * above the used part of it is given back (CAP-46-07, "refundable fee").
 */
const RESOURCE_MARGIN_PERCENT = 15n

/** Content that is ready, or what has to be restored before. */
export type Assembled =
  | { readonly kind: 'ready'; readonly tx: Transaction }
  | { readonly kind: 'restore'; readonly transactionData: string }

/** Whether a transaction is one of smart contracts. */
export function isSorobanTransaction({ operations }: Transaction): boolean {
  const [first] = operations
  return (
    first?.body.type === 'invokeHostFunction' ||
    first?.body.type === 'extendFootprintTtl' ||
    first?.body.type === 'restoreFootprint'
  )
}

/** Fills in resources, resource fee and authorization, as a simulation finds them needed. */
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

/** The transaction with these resources and their fee, margin included. */
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
 * What nobody here can sign. The source's own agreement is its signature under the transaction; of entries that the caller
 * gave, the node has run the call with them and with no others.
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

/** The whole fee has to fit into a transaction, and some of it has to be left for inclusion. */
function tooDear({ resourceFee }: Pick<Simulation, 'resourceFee'>): Refusal | undefined {
  if (resourceFee * 2n <= MAX_PLAIN_FEE) return undefined
  const detail = `The resources of this call cost ${resourceFee} stroops, more than a transaction can pay.`
  return { code: 'fee_above_cap', detail }
}

function hasEntries({ body }: Operation): boolean {
  return body.type === 'invokeHostFunction' && body.invokeHostFunctionOp.auth.length > 0
}

/** Entries that the caller gave stay as they are; the node has run the call with them. */
function withAuth(operation: Operation, { auth }: Simulation): Operation {
  const { body, sourceAccount } = operation
  if (body.type !== 'invokeHostFunction' || hasEntries(operation)) return operation
  const { hostFunction } = body.invokeHostFunctionOp
  const invocation = new InvokeHostFunctionOp({ hostFunction, auth: [...auth] })
  return new Operation({ sourceAccount, body: OperationBody.invokeHostFunction(invocation) })
}
