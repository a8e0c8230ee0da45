import { createHash } from 'node:crypto'
import type { SignatureRecorder } from '../audit/signatures.ts'
import type { SignedDraft } from '../chains/attempt.ts'
import type { TypedData } from '../chains/evm/content.ts'
import type { Data, HandlerMap, Schemas } from '../contract/operations.ts'
import { assertNever } from '../lib/assert-never.ts'
import { fingerprintOf } from '../lib/fingerprint.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import type { AuthorizationSigner } from '../transactions/sign-authorization.ts'
import type { TransactionSigner } from '../transactions/sign-only.ts'
import type { TypedDataSigner } from '../transactions/sign-typed-data.ts'
import { presentMessageSignature } from './present/message-signature.ts'
import { readUnsigned } from './read/unsigned.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface SigningHandlerDeps {
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  readonly signTransaction: TransactionSigner
  readonly signTypedData: TypedDataSigner
  readonly signAuthorization: AuthorizationSigner
  readonly recordSignature: SignatureRecorder
}

/** The operations that sign without sending. */
export function signingHandlers({
  relayerOf,
  runtimeOf,
  signTransaction,
  signTypedData,
  signAuthorization,
  recordSignature,
}: SigningHandlerDeps): Pick<HandlerMap, 'signTypedData' | 'signTransaction' | 'signAuthorizationEntry'> {
  return {
    signTypedData: async ({ path, body }, { actor, principal: { visibility } }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const signature = await signTypedData(relayer, readTypedData(body), { actor, visibility })
      const sha256 = fingerprintOf(body)
      await recordSignature({ relayerId: relayer.id, action: 'signTypedData', actor, sha256 })
      return { data: signature }
    },
    signTransaction: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const unsigned = readUnsigned(body, relayer, runtimeOf(relayer).chain)
      const signed = await signTransaction(relayer, unsigned, actor)
      const sha256 = createHash('sha256').update(signed.raw).digest('hex')
      await recordSignature({ relayerId: relayer.id, action: 'signTransaction', actor, sha256 })
      return { data: presentSigned(relayer, signed) }
    },
    signAuthorizationEntry: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const signature = await signAuthorization(relayer, body.preimage_xdr, actor)
      return { data: presentMessageSignature(signature) }
    },
  }
}

/** Each network type has the form that its tools write and existing clients read. */
function presentSigned(
  { networkType }: Relayer,
  { raw, hash, signature }: SignedDraft,
): Data<'signTransaction'> {
  const bytes = Buffer.from(raw)
  switch (networkType) {
    case 'evm':
      return { signed_transaction: `0x${bytes.toString('hex')}`, hash, signature }
    case 'solana':
      return { transaction: bytes.toString('base64'), signature: hash }
    case 'stellar':
      return {
        signedXdr: bytes.toString('base64'),
        signature: Buffer.from(signature.sig, 'hex').toString('base64'),
      }
    default:
      return assertNever(networkType)
  }
}

function readTypedData(body: Schemas['SignTypedDataRequest']): TypedData {
  if ('types' in body) return { kind: 'document', ...body }
  return {
    kind: 'hashes',
    domainSeparator: withPrefix(body.domain_separator),
    structHash: withPrefix(body.hash_struct_message),
  }
}

function withPrefix(hex: string): string {
  return hex.startsWith('0x') ? hex : `0x${hex}`
}
