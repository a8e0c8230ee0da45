import { createHash } from 'node:crypto'
import { Address, StrKey, scValToBigInt, xdr } from '@stellar/stellar-sdk'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest } from '../wire.ts'

/** A payment in a SEP-41 token, decoded and checked as far as that is possible without the ledger. */
export interface StellarPayment {
  readonly payer: string
  readonly payTo: string
  readonly asset: string
  readonly amount: bigint
  /** The nonce of the authorization; the ledger lets the payer use it once. */
  readonly nonce: bigint
  /** The last ledger in which the authorization counts. */
  readonly expirationLedger: number
  /** The signed authorization, XDR in base64. */
  readonly entry: string
  readonly entryHash: string
  readonly maxTimeoutSeconds: number
}

/** Longer than any call of `transfer` with one signature, also of an account with twenty signers. */
const MAX_XDR_LENGTH = 64_000

/**
 * Decodes a payment, and compares it with what is required. `relayer` is the account that pays the fee.
 * Throws {@link Refusal}.
 */
export function decodeStellarPayment(
  { version, payload, requirements }: PaymentRequest,
  relayer: string,
): StellarPayment {
  const { amount, asset, payTo, maxTimeoutSeconds, extra } = requirements
  if (version !== 2) throw new Refusal('invalid_x402_version', 'Payments on Stellar have version 2.')
  if (extra.areFeesSponsored !== true)
    throw new Refusal(
      'invalid_payment_requirements',
      'paymentRequirements.extra.areFeesSponsored: expected true.',
    )
  if (!/^C[A-Z2-7]{55}$/.test(asset))
    throw new Refusal('invalid_payment_requirements', 'paymentRequirements.asset: expected a contract, C….')
  const transaction = decode(payload.transaction)
  const [operation, ...others] = transaction.operations
  if (!operation || others.length > 0 || operation.body.type !== 'invokeHostFunction')
    throw refusal('wrong_operation', 'Exactly one operation is expected, of the type invokeHostFunction.')
  const sources = [transaction.sourceAccount, operation.sourceAccount].map(sourceOf)
  if (sources.includes(relayer))
    throw refusal('unsafe_tx_or_op_source', 'The facilitator may not be a source in the payment.')
  const { hostFunction, auth } = operation.body.invokeHostFunctionOp
  const call = transferIn(hostFunction, asset)
  if (call.to !== payTo)
    throw refusal('wrong_recipient', 'The transfer pays someone else than payTo.', call.from)
  if (call.amount !== amount)
    throw refusal('wrong_amount', `The transfer is of ${call.amount}, not of ${amount}.`, call.from)
  if (call.from === relayer)
    throw refusal('facilitator_is_payer', 'The facilitator may not be the payer.', call.from)
  if (call.from === payTo)
    throw refusal('wrong_recipient', 'The payer and the payee are the same account.', call.from)
  const signed = signedEntry(auth, { hostFunction, payer: call.from, relayer })
  return { payer: call.from, payTo, asset, amount, maxTimeoutSeconds, ...signed }
}

function refusal(reason: string, message: string, payer?: string): Refusal {
  return new Refusal(`invalid_exact_stellar_payload_${reason}`, message, payer)
}

function decode(text: unknown): xdr.Transaction {
  const failed = refusal('malformed', 'payload.transaction: expected a transaction as XDR in base64.')
  if (typeof text !== 'string' || text.length > MAX_XDR_LENGTH) throw failed
  try {
    const envelope = xdr.TransactionEnvelope.fromXdr(text, 'base64')
    if (envelope.type !== 'envelopeTypeTx') throw failed
    return envelope.v1.tx
  } catch {
    throw failed
  }
}

/** The account behind a source, also behind a muxed one. */
function sourceOf(source: xdr.MuxedAccount | null): string | undefined {
  if (source === null) return undefined
  const key = source.type === 'keyTypeEd25519' ? source.ed25519 : source.med25519.ed25519
  return StrKey.encodeEd25519PublicKey(key.toBytes())
}

function transferIn(hostFunction: xdr.HostFunction, asset: string) {
  if (hostFunction.type !== 'hostFunctionTypeInvokeContract')
    throw refusal('wrong_operation', 'The operation must call a contract.')
  const { contractAddress, functionName, args } = hostFunction.invokeContract
  if (Address.fromScAddress(contractAddress).toString() !== asset)
    throw refusal('wrong_asset', 'The operation calls another contract than the asset.')
  const [from, to, amount, ...others] = args
  if (String(functionName) !== 'transfer' || !from || !to || !amount || others.length > 0)
    throw refusal('wrong_function_name', 'The operation must call transfer with three arguments.')
  if (from.type !== 'scvAddress' || to.type !== 'scvAddress' || amount.type !== 'scvI128')
    throw refusal('malformed', 'The arguments of transfer must be two addresses and an i128.')
  const [payer, payee] = [from, to].map((each) => Address.fromScVal(each).toString())
  return { from: payer ?? '', to: payee ?? '', amount: scValToBigInt(amount) }
}

function signedEntry(
  auth: readonly xdr.SorobanAuthorizationEntry[],
  { hostFunction, payer, relayer }: { hostFunction: xdr.HostFunction; payer: string; relayer: string },
) {
  const [entry, ...others] = auth
  if (!entry) throw refusal('no_auth_entries', 'The payment has no authorization.', payer)
  if (auth.some(({ credentials }) => addressCredentials(credentials) === undefined))
    throw refusal(
      'unsupported_credential_type',
      'Authorizations must have the credentials of an address.',
      payer,
    )
  if (auth.some(({ credentials }) => addressIn(credentials) === relayer))
    throw refusal('facilitator_in_auth', 'The facilitator may not authorize anything.', payer)
  const { credentials, rootInvocation } = entry
  const ofPayer = addressCredentials(credentials)
  if (others.length > 0 || ofPayer === undefined || addressIn(credentials) !== payer)
    throw refusal('missing_payer_signature', 'Exactly one authorization is expected, of the payer.', payer)
  if (rootInvocation.subInvocations.length > 0)
    throw refusal('has_subinvocations', 'The authorization may contain nothing but the transfer.', payer)
  if (!isSameCall(rootInvocation.function, hostFunction))
    throw refusal('wrong_operation', 'The authorization is for another call.', payer)
  const { nonce, signature, signatureExpirationLedger } = ofPayer
  if (signature.type === 'scvVoid')
    throw refusal('missing_payer_signature', 'The authorization is not signed.', payer)
  const text = entry.toXdr('base64')
  return {
    nonce: BigInt(nonce),
    expirationLedger: signatureExpirationLedger,
    entry: text,
    entryHash: createHash('sha256').update(text).digest('hex'),
  }
}

/**
 * The credentials of an address, of the first kind and of that of CAP-71, which binds the signature to the
 * address.
 */
function addressCredentials(credentials: xdr.SorobanCredentials): xdr.SorobanAddressCredentials | undefined {
  switch (credentials.type) {
    case 'sorobanCredentialsAddress':
      return credentials.address
    case 'sorobanCredentialsAddressV2':
      return credentials.addressV2
    default:
      return undefined
  }
}

function addressIn(credentials: xdr.SorobanCredentials): string | undefined {
  const found = addressCredentials(credentials)
  return found && Address.fromScAddress(found.address).toString()
}

function isSameCall(authorized: xdr.SorobanAuthorizedFunction, called: xdr.HostFunction): boolean {
  if (authorized.type !== 'sorobanAuthorizedFunctionTypeContractFn') return false
  if (called.type !== 'hostFunctionTypeInvokeContract') return false
  return authorized.contractFn.toXdr('base64') === called.invokeContract.toXdr('base64')
}
