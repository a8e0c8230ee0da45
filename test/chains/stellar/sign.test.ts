import {
  FeeBumpTransaction,
  Keypair,
  StrKey,
  Transaction,
  TransactionBuilder,
} from '@stellar/stellar-sdk/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StellarDraft, StellarRequest, UnixSeconds } from '../../../src/chains/stellar/content.ts'
import { closeEnvelope, maxTimeOf } from '../../../src/chains/stellar/model/envelope.ts'
import { composeTransaction } from '../../../src/chains/stellar/prepare/prepare.ts'
import { signDraft, signMessage } from '../../../src/chains/stellar/sign.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'
import {
  accountWith,
  addressOf,
  channelSigningContextAt,
  OTHER,
  PASSPHRASE,
  paymentOf,
  requestOf,
  SELF,
  signerOf,
  signingContextAt,
} from './build.ts'

/** The SDK is the witness: it decodes what we send, and hashes it by itself. */
const read = (raw: Uint8Array) => TransactionBuilder.fromXdr(Buffer.from(raw).toString('base64'), PASSPHRASE)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function isSignedBy(tx: Transaction | FeeBumpTransaction, ...addresses: readonly string[]): boolean {
  return (
    tx.signatures.length === addresses.length &&
    addresses.every((address) =>
      tx.signatures.some(({ signature }) =>
        Keypair.fromPublicKey(address).verify(tx.hash(), signature.toBytes()),
      ),
    )
  )
}

function draftOf(request: Partial<StellarRequest>, change: Partial<StellarDraft> = {}): StellarDraft {
  const tx = composeTransaction(requestOf(request), accountWith(), 1_000n as UnixSeconds)
  const end = maxTimeOf(tx)
  return {
    type: 'stellar',
    envelope: closeEnvelope(tx),
    externallySigned: false,
    feePerOperation: 100n,
    operationCount: tx.operations.length,
    resourceFee: 0n,
    bumped: false,
    spends: 0n,
    maxFee: 1_000_000n,
    preparedAt: 1_000n as UnixSeconds,
    ...(end === undefined ? {} : { expiresAt: end }),
    ...change,
  }
}

describe('a transaction with a sequence number of the relayer', () => {
  test('is signed by the relayer, with the number and the fee filled in', async () => {
    const draft = draftOf({
      operations: [paymentOf(1n), paymentOf(2n)],
      memo: { type: 'id', value: 2n ** 63n },
    })
    const { raw, hash, signature } = await signDraft(draft, signingContextAt(2n ** 62n), PASSPHRASE)
    const tx = read(raw)
    if (!(tx instanceof Transaction)) throw new Error('a fee bump')
    expect(hash).toBe(hex(tx.hash()))
    expect(isSignedBy(tx, SELF)).toBe(true)
    expect(signature).toMatchObject({
      v: 0,
      sig: hex(tx.signatures[0]?.signature.toBytes() ?? new Uint8Array()),
    })
    expect(signature.r + signature.s).toBe(signature.sig)
    expect([tx.source, tx.sequence, tx.fee]).toEqual([SELF, String(2n ** 62n), '200'])
    expect(tx.memo.value).toBe(String(2n ** 63n))
    expect(tx.timeBounds).toEqual({ minTime: '0', maxTime: '1120' })
  })

  test('bids nothing inside a fee bump, so that it cannot be included alone', async () => {
    const draft = draftOf({ operations: [paymentOf(1n)] }, { bumped: true, feePerOperation: 1_000n })
    const { raw, hash, signature } = await signDraft(draft, signingContextAt(6n), PASSPHRASE)
    const tx = read(raw)
    if (!(tx instanceof FeeBumpTransaction)) throw new Error('no fee bump')
    expect(hash).toBe(hex(tx.hash()))
    expect([tx.fee, tx.feeSource, tx.innerTransaction.fee]).toEqual(['2000', SELF, '0'])
    expect(isSignedBy(tx, SELF) && isSignedBy(tx.innerTransaction, SELF)).toBe(true)
    expect(signature.sig).toBe(hex(tx.signatures[0]?.signature.toBytes() ?? new Uint8Array()))
  })
})

describe('a transaction with a sequence number of a channel account', () => {
  test('has operations of the relayer, which pays the fee', async () => {
    const draft = draftOf({ operations: [paymentOf(1n), paymentOf(2n)] })
    const { raw } = await signDraft(draft, channelSigningContextAt(9n), PASSPHRASE)
    const tx = read(raw)
    if (!(tx instanceof FeeBumpTransaction)) throw new Error('no fee bump')
    const { innerTransaction: inner } = tx
    expect([inner.source, inner.sequence, tx.feeSource, tx.fee]).toEqual([
      addressOf('channel'),
      '9',
      SELF,
      '300',
    ])
    expect(inner.operations.map(({ source }) => source)).toEqual([SELF, SELF])
    expect(isSignedBy(inner, addressOf('channel'), SELF) && isSignedBy(tx, SELF)).toBe(true)
  })

  test('keeps the muxed account of the relayer in the operations', async () => {
    const sourceAccount = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'
    const { raw } = await signDraft(
      draftOf({ operations: [paymentOf(1n)], sourceAccount }),
      channelSigningContextAt(9n),
      PASSPHRASE,
    )
    const tx = read(raw)
    if (!(tx instanceof FeeBumpTransaction)) throw new Error('no fee bump')
    expect(tx.innerTransaction.operations[0]?.source).toBe(sourceAccount)
  })
})

const THEM = { address: OTHER, signer: signerOf('other') }

test('what a third party has signed is wrapped as it stands', async () => {
  const theirs = await signDraft(
    draftOf({ operations: [paymentOf(1n)] }),
    { sourceAccount: THEM, nonce: 3n, account: THEM },
    PASSPHRASE,
  )
  const envelope = Buffer.from(theirs.raw).toString('base64')
  const draft = draftOf({ operations: [paymentOf(1n)] }, { envelope, externallySigned: true, bumped: true })
  const signingContext = { ...signingContextAt(3n), sourceAccount: { address: OTHER, signer: undefined } }
  const tx = read((await signDraft(draft, signingContext, PASSPHRASE)).raw)
  if (!(tx instanceof FeeBumpTransaction)) throw new Error('no fee bump')
  expect(tx.innerTransaction.toEnvelope().toXdr('base64')).toBe(read(theirs.raw).toEnvelope().toXdr('base64'))
  expect(isSignedBy(tx, SELF)).toBe(true)
})

test('any amount and number arrives as it was written', async () => {
  const amounts = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })
  await fc.assert(
    fc.asyncProperty(amounts, amounts, async (amount, nonce) => {
      const draft = draftOf({ operations: [paymentOf(amount)] })
      const tx = read((await signDraft(draft, signingContextAt(nonce), PASSPHRASE)).raw)
      if (!(tx instanceof Transaction)) throw new Error('a fee bump')
      const [payment] = tx.operations
      if (payment?.type !== 'payment') throw new Error('no payment')
      expect(BigInt(payment.amount.replace('.', ''))).toBe(amount)
      expect(tx.sequence).toBe(nonce.toString())
    }),
    { numRuns: 30 },
  )
})

test('a signer of another curve signs nothing', async () => {
  const signer = {
    curve: 'secp256k1',
    id: 'x',
    publicKey: new Uint8Array(65),
    sign: () => Promise.reject(new Error()),
  } as const
  const signingContext = { ...signingContextAt(1n), account: { address: SELF, signer } }
  await expect(
    signDraft(draftOf({ operations: [paymentOf(1n)] }), signingContext, PASSPHRASE),
  ).rejects.toThrow(/ed25519/)
})

/** The vectors of SEP-53. */
const SEED = 'SAKICEVQLYWGSOJS4WW7HZJWAHZVEEBS527LHK5V4MLJALYKICQCJXMW'
const ADDRESS = 'GBXFXNDLV4LSWA4VB7YIL5GBD7BVNR22SGBTDKMO2SBZZHDXSKZYCP7L'
const SIGNATURES = [
  [
    'Hello, World!',
    'fO5dbYhXUhBMhe6kId/cuVq/AfEnHRHEvsP8vXh03M1uLpi5e46yO2Q8rEBzu3feXQewcQE5GArp88u6ePK6BA==',
  ],
  [
    'こんにちは、世界！',
    'CDU265Xs8y3OWbB/56H9jPgUss5G9A0qFuTqH2zs2YDgTm+++dIfmAEceFqB7bhfN3am59lCtDXrCtwH2k1GBA==',
  ],
] as const

test.each(SIGNATURES)('%s is signed as SEP-53 says', async (message, signature) => {
  const signer = createEd25519Signer('sep-53', StrKey.decodeEd25519SecretSeed(SEED))
  const sig = Buffer.from(signature, 'base64').toString('hex')
  expect(await signMessage(message, signer)).toEqual({
    r: sig.slice(0, 64),
    s: sig.slice(64),
    v: 0,
    sig,
    signature,
    publicKey: ADDRESS,
  })
})
