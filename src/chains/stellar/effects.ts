import type { OperationBody } from '@stellar/stellar-sdk/xdr'
import { larger } from '../../lib/bigint.ts'
import type { Effects } from '../effects.ts'
import { joinEffects, type PartialEffects } from '../join-effects.ts'
import type { StellarRequest } from './content.ts'
import { classicEffects } from './effects/classic.ts'
import {
  calledContracts,
  externallySignedInvocationEffects,
  invocationEffects,
} from './effects/invocation.ts'
import { operationName } from './effects/names.ts'
import { encodeOperation } from './encode/operation.ts'
import { openEnvelope } from './model/envelope.ts'
import { underlying } from './model/strkey.ts'

/**
 * Returns the effects of a checked request on the relayer's account `address`. The relayer authorizes with its signature what a simulation
 * finds necessary, so the effects of a prepared envelope, read as `transactionXdr`, can be more than those of the request for it.
 */
export function stellarEffects(request: StellarRequest, address: string): Effects {
  return joinEffects(
    operationsOf(request, address).map(({ body, own }) => ({
      operations: [operationName(body)],
      contracts: calledContracts(body),
      ...(own ? ownEffects(body, address) : externallySignedEffects(body, address)),
    })),
  )
}

/**
 * Returns the next sequence number of the account after a request that raises it by operations (BumpSequence, CAP-1); undefined when none does.
 */
export function nextSequence(request: StellarRequest, address: string): bigint | undefined {
  const targets = operationsOf(request, address).flatMap(({ body, own }) =>
    own && body.type === 'bumpSequence' ? [body.bumpSequenceOp.bumpTo + 1n] : [],
  )
  return targets.length === 0 ? undefined : targets.reduce(larger)
}

interface SourcedOperation {
  readonly body: OperationBody
  /** The operation acts on the relayer's account. */
  readonly own: boolean
}

/**
 * Externally signed content moves the money of its own sources. In unsigned content every operation counts as the relayer's own: no other
 * account signs it.
 */
function operationsOf(request: StellarRequest, address: string): SourcedOperation[] {
  const { operations = [], transactionXdr, feeBump = false } = request
  if (transactionXdr === undefined)
    return operations.map((operation) => ({ body: encodeOperation(operation).body, own: true }))
  const { tx } = openEnvelope(transactionXdr)
  return tx.operations.map(({ body, sourceAccount }) => ({
    body,
    own: !feeBump || underlying(sourceAccount ?? tx.sourceAccount) === address,
  }))
}

function ownEffects(body: OperationBody, address: string): PartialEffects {
  return body.type === 'invokeHostFunction'
    ? invocationEffects(body.invokeHostFunctionOp, address)
    : classicEffects(body)
}

function externallySignedEffects(body: OperationBody, address: string): PartialEffects {
  return body.type === 'invokeHostFunction'
    ? externallySignedInvocationEffects(body.invokeHostFunctionOp, address)
    : {}
}
