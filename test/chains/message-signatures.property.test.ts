import { createHash } from 'node:crypto'
import { getCompiledTransactionMessageDecoder } from '@solana/kit'
import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import fc from 'fast-check'
import { hashDomain, hashMessage, hexToBytes, keccak256 } from 'viem'
import * as chains from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { preimageOf, tokenTransfer } from '../../simulators/stellar/transaction/authorization.ts'
import type { TypedData } from '../../src/chains/evm/content.ts'
import { signPersonalMessage } from '../../src/chains/evm/sign.ts'
import { signTypedData } from '../../src/chains/evm/typed-data.ts'
import { signMessage as signSolanaMessage } from '../../src/chains/solana/sign.ts'
import { readAuthorizationPreimage } from '../../src/chains/stellar/review.ts'
import { signMessage as signStellarMessage } from '../../src/chains/stellar/sign.ts'
import { AppError } from '../../src/errors.ts'
import { createEd25519Signer } from '../../src/signers/ed25519.ts'
import { createSecp256k1Signer } from '../../src/signers/secp256k1.ts'
import type { Ed25519Signer, Secp256k1Signer } from '../../src/signers/signer.ts'
import { keypairOf } from '../support/stellar-scenario.ts'

/** The rules of docs/signatures.md. A recording signer shows the bytes that an operation would have the key sign. */

const SECRET = new Uint8Array(32).fill(7)

/** Everything that stellar-core verifies with the key of an account is one SHA-256. */
const STELLAR_PAYLOAD_BYTES = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

function recordEd25519(): { signer: Ed25519Signer; signed: Uint8Array[] } {
  const signed: Uint8Array[] = []
  const key = createEd25519Signer('main', SECRET)
  const sign = (message: Uint8Array) => {
    signed.push(Uint8Array.from(message))
    return key.sign(message)
  }
  return { signer: { ...key, sign }, signed }
}

function recordSecp256k1(): { signer: Secp256k1Signer; signed: Uint8Array[] } {
  const signed: Uint8Array[] = []
  const key = createSecp256k1Signer('main', SECRET)
  const sign = (digest: Uint8Array) => {
    signed.push(Uint8Array.from(digest))
    return key.sign(digest)
  }
  return { signer: { ...key, sign }, signed }
}

/** Returns the bytes that the key would sign for a text; undefined if the service refuses it. */
async function payloadOf(
  sign: (message: string, signer: Ed25519Signer) => Promise<unknown>,
  message: string,
): Promise<Uint8Array | undefined> {
  const { signer, signed } = recordEd25519()
  try {
    await sign(message, signer)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).code).toBe('invalid_request')
    expect((error as AppError).detail).toMatch(/^message: /)
    expect(signed).toEqual([])
    return undefined
  }
  expect(signed).toHaveLength(1)
  return signed[0]
}

/** Takes more than the service does: every text that the library of Solana can read to its end as a message. */
function isSolanaMessage(bytes: Uint8Array): boolean {
  const decoder = getCompiledTransactionMessageDecoder()
  try {
    return decoder.read(bytes, 0)[1] === bytes.length
  } catch {
    return false
  }
}

const ascii = fc.integer({ min: 0, max: 127 })
const asciiBytes = (length: number) => fc.array(ascii, { minLength: length, maxLength: length })

/** Texts of exactly 32 bytes: each may be the hash of a transaction of Stellar. */
const hashText = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 32 })
  .map((text) => Buffer.from(text, 'utf8'))
  .filter((bytes) => bytes.length <= STELLAR_PAYLOAD_BYTES && bytes.toString('utf8').isWellFormed())
  .map((bytes) => Buffer.concat([bytes, Buffer.alloc(STELLAR_PAYLOAD_BYTES - bytes.length, 'x')]).toString())

/** Legacy messages of Solana whose bytes are text: one signer, a program, an instruction with data. */
const solanaText = fc
  .record({
    keys: fc.uniqueArray(asciiBytes(32), { minLength: 2, maxLength: 6, selector: (key) => key.join() }),
    blockhash: asciiBytes(32),
    data: fc.array(ascii, { maxLength: 100 }),
  })
  .map(({ keys, blockhash, data }) => {
    const head = [1, 0, 1, keys.length, ...keys.flat(), ...blockhash]
    return Buffer.from([...head, 1, keys.length - 1, 1, 0, data.length, ...data]).toString('utf8')
  })

/** The preimage of a transaction hash of Stellar, in so far as it is text. */
const stellarPreimageText = fc
  .record({ networkId: asciiBytes(32), rest: fc.array(ascii, { maxLength: 64 }) })
  .map(({ networkId, rest }) => Buffer.from([...networkId, 0, 0, 0, 2, ...rest]).toString('utf8'))

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }).filter((text) => text.isWellFormed()),
  hashText,
  solanaText,
  stellarPreimageText,
)

describe('a message that an ed25519 key signs', () => {
  test('the examples of this test are what they claim to be', () => {
    fc.assert(
      fc.property(hashText, solanaText, (hash, solana) => {
        expect(Buffer.from(hash, 'utf8')).toHaveLength(STELLAR_PAYLOAD_BYTES)
        expect(isSolanaMessage(Buffer.from(solana, 'utf8'))).toBe(true)
      }),
    )
  })

  test('is refused on Solana when it has the length of a hash, which Stellar signs', async () => {
    await fc.assert(
      fc.asyncProperty(hashText, async (text) => {
        expect(await payloadOf(signSolanaMessage, text)).toBeUndefined()
      }),
    )
  })

  test('is refused on Solana when its bytes are a transaction of Solana', async () => {
    await fc.assert(
      fc.asyncProperty(solanaText, async (text) => {
        expect(await payloadOf(signSolanaMessage, text)).toBeUndefined()
      }),
    )
  })

  test('on Solana is never the payload of a transaction of Stellar or Solana', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const payload = await payloadOf(signSolanaMessage, text)
        if (payload === undefined) return
        expect(utf8.decode(payload)).toBe(text.replace(/^\ufeff/, ''))
        expect(payload.length).not.toBe(STELLAR_PAYLOAD_BYTES)
        expect(isSolanaMessage(payload)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('on Stellar is never the payload of a transaction of Stellar or Solana', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const payload = await payloadOf(signStellarMessage, text)
        const preimage = Buffer.from(`Stellar Signed Message:\n${text}`, 'utf8')
        // The preimage of a transaction begins with the id of a network, which is a SHA-256 and not this text.
        expect(payload).toEqual(Uint8Array.from(createHash('sha256').update(preimage).digest()))
        expect(isSolanaMessage(payload ?? new Uint8Array())).toBe(false)
      }),
      { numRuns: 500 },
    )
  })
})

describe('an authorization that an ed25519 key signs', () => {
  const from = keypairOf('main').publicKey()
  const token = Asset.native().contractId('any')
  const root = (amount: bigint) => tokenTransfer({ token, from, to: from, amount })

  test('is read as it is, with every passphrase, nonce and ledger', () => {
    const amounts = fc.bigInt({ min: 0n, max: 2n ** 127n - 1n })
    const nonces = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const ledgers = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(fc.string(), amounts, nonces, ledgers, (passphrase, amount, nonce, expirationLedger) => {
        const base64 = preimageOf({ passphrase, root: root(amount), nonce, expirationLedger })
        const bytes = Buffer.from(base64, 'base64')
        expect(bytes.readUInt32BE()).toBe(9)
        expect(readAuthorizationPreimage(base64)).toMatchObject({
          networkId: Uint8Array.from(createHash('sha256').update(passphrase).digest()),
          expirationLedger: BigInt(expirationLedger),
          hash: createHash('sha256').update(bytes).digest(),
        })
      }),
    )
  })

  test('is never the preimage of a transaction or of a message', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        fc.string(),
        (passphrase, count, text) => {
          const builder = new TransactionBuilder(new Account(from, '1'), {
            fee: '100',
            networkPassphrase: passphrase,
          })
          for (let index = 0; index < count; index += 1)
            builder.addOperation(Operation.payment({ destination: from, asset: Asset.native(), amount: '1' }))
          const bytes = Buffer.from(builder.setTimeout(0).build().signatureBase())
          expect(readAuthorizationPreimage(bytes.toString('base64'))).toBeUndefined()
          const message = Buffer.from(`Stellar Signed Message:\n${text}`, 'utf8')
          expect(readAuthorizationPreimage(message.toString('base64'))).toBeUndefined()
        },
      ),
    )
  })

  test('has no byte too few and none too many', () => {
    const bytes = Buffer.from(
      preimageOf({ passphrase: 'any', root: root(1n), expirationLedger: 5 }),
      'base64',
    )
    for (let length = 0; length < bytes.length; length += 1)
      expect(readAuthorizationPreimage(bytes.subarray(0, length).toString('base64'))).toBeUndefined()
    for (let more = 1; more <= 8; more += 1)
      expect(
        readAuthorizationPreimage(Buffer.concat([bytes, Buffer.alloc(more)]).toString('base64')),
      ).toBeUndefined()
  })
})

/** The transaction of a ZK Stack network in the fields that its nodes hash (type 113). */
const ZK_FIELDS = [
  'txType',
  'from',
  'to',
  'gasLimit',
  'gasPerPubdataByteLimit',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'paymaster',
  'nonce',
  'value',
]

function zkTransaction(chainId: number | string, domain: object = {}): TypedData {
  const message = Object.fromEntries(ZK_FIELDS.map((name) => [name, '1']))
  return {
    kind: 'document',
    domain: { name: 'zkSync', version: '2', chainId, ...domain },
    primaryType: 'Transaction',
    types: {
      Transaction: [
        ...ZK_FIELDS.map((name) => ({ name, type: 'uint256' })),
        { name: 'data', type: 'bytes' },
        { name: 'factoryDeps', type: 'bytes32[]' },
        { name: 'paymasterInput', type: 'bytes' },
      ],
    },
    message: { ...message, data: '0x', factoryDeps: [], paymasterInput: '0x' },
  }
}

/** The chains of viem whose transactions are typed data. */
const ZK_CHAINS = Object.values(chains).flatMap((chain) =>
  (chain as { custom?: { getEip712Domain?: unknown } }).custom?.getEip712Domain === undefined
    ? []
    : [chain.id],
)

const zkSeparator = (chainId: number) =>
  hashDomain({
    domain: { name: 'zkSync', version: '2', chainId: BigInt(chainId) },
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
      ],
    },
  })

describe('a message that a secp256k1 key signs', () => {
  test('is hashed behind the byte 0x19, with which no transaction begins', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        fc.pre(text.isWellFormed())
        const { signer, signed } = recordSecp256k1()
        await signPersonalMessage(text, signer)
        expect(signed).toEqual([hexToBytes(hashMessage(text))])
      }),
    )
  })

  test('is the hash of 0x1901 and two hashes, whatever these are', async () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    await fc.assert(
      fc.asyncProperty(hash, hash, async (domain, struct) => {
        const { signer, signed } = recordSecp256k1()
        const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
        await signTypedData({ kind: 'hashes', domainSeparator: hex(domain), structHash: hex(struct) }, signer)
        expect(signed).toEqual([keccak256(Uint8Array.from([0x19, 0x01, ...domain, ...struct]), 'bytes')])
      }),
    )
  })

  test.each([324, '324', '0x144', 271_828])(
    'is refused as a document that is a transaction of the ZK Stack network %s',
    async (chainId) => {
      const { signer, signed } = recordSecp256k1()
      const answer = await signTypedData(zkTransaction(chainId), signer)
      expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'invalid_request' } })
      expect(answer.kind === 'refused' && answer.refusal.detail).toMatch(/^body\.primaryType: .*zkSync/)
      expect(signed).toEqual([])
    },
  )

  test('may be a document of another domain, or of another type', async () => {
    const { signer } = recordSecp256k1()
    expect((await signTypedData(zkTransaction(324, { name: 'Shop' }), signer)).kind).toBe('ok')
    const login: TypedData = {
      kind: 'document',
      domain: { name: 'zkSync', version: '2', chainId: 324 },
      primaryType: 'Login',
      types: { Login: [{ name: 'nonce', type: 'uint256' }] },
      message: { nonce: 1 },
    }
    expect((await signTypedData(login, signer)).kind).toBe('ok')
  })

  test('is refused as hashes under the domain of a ZK Stack network', async () => {
    expect(ZK_CHAINS).toContain(2741)
    for (const chainId of ZK_CHAINS) {
      const { signer, signed } = recordSecp256k1()
      const answer = await signTypedData(
        { kind: 'hashes', domainSeparator: zkSeparator(chainId), structHash: `0x${'11'.repeat(32)}` },
        signer,
      )
      expect({ chainId, kind: answer.kind }).toEqual({ chainId, kind: 'refused' })
      expect(signed).toEqual([])
    }
  })
})
