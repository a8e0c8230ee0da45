import { createHash } from 'node:crypto'
import { address, getPublicKeyFromAddress, signatureBytes, verifySignature } from '@solana/kit'
import { Keypair } from '@stellar/stellar-sdk'
import { bytesToHex, keccak256, recoverAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { solanaAddress, stellarAddress } from '../../../src/signers/ed25519.ts'
import type { Key } from '../../../src/signers/key.ts'
import { evmAddress } from '../../../src/signers/secp256k1.ts'
import type { EcdsaSignature, Secp256k1Signer } from '../../../src/signers/signer.ts'

/** The accounts of a key, found by other libraries. */
export interface Accounts {
  readonly evm?: string | undefined
  readonly stellar?: string | undefined
  readonly solana?: string | undefined
}

/** One type of signer under test. */
export interface Subject {
  readonly name: string
  /** Opens the key as the service does. */
  readonly open: () => Promise<Key>
  readonly accounts: Accounts
}

/** Half of the order of secp256k1. A higher s is refused by chains (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** As many signatures at the same time as a busy account needs, and more than the limit of concurrent calls. */
const MANY = 200

/** Defines a test only for keys that have such an account. */
const testIf = (account: string | undefined) => (account === undefined ? () => undefined : test)

const digestOf = (index: number) => new Uint8Array(createHash('sha256').update(`digest ${index}`).digest())
const messageOf = (index: number) => new TextEncoder().encode(`message ${index} `.repeat(index + 1))
const numbers = Array.from({ length: MANY }, (_, index) => index)

/** Signs the hash of a message, as EVM does: some services hash by themselves. */
export async function signEvm(
  signer: Secp256k1Signer | undefined,
  message: Uint8Array,
): Promise<EcdsaSignature | undefined> {
  return signer?.signMessage?.(message) ?? signer?.sign(keccak256(message, 'bytes'))
}

/** Checks that every type of signer keeps the same promises, anyone who holds the key. */
export function describeConformance({ name, open, accounts }: Subject): void {
  describe(`a signer of the type ${name}`, () => {
    test('has the accounts that other libraries find for its secret', async () => {
      const { evm, stellar, solana } = await open()
      expect({
        evm: evm && evmAddress(evm.publicKey),
        stellar: stellar && stellarAddress(stellar.publicKey),
        solana: solana && solanaAddress(solana.publicKey),
      }).toEqual({ evm: accounts.evm, stellar: accounts.stellar, solana: accounts.solana })
    })

    testIf(accounts.evm)('signs hashes for EVM, low-s, 200 at the same time', async () => {
      const { evm } = await open()
      const signatures = await Promise.all(numbers.map((index) => signEvm(evm, messageOf(index))))
      for (const [index, signature] of signatures.entries()) {
        if (signature === undefined) throw new Error('there is no signature')
        const [r, s] = [bytesToHex(signature.r), bytesToHex(signature.s)]
        expect([signature.r.length, signature.s.length, BigInt(s) <= HALF_ORDER]).toEqual([32, 32, true])
        const hash = keccak256(messageOf(index))
        const found = await recoverAddress({ hash, signature: { r, s, yParity: signature.recovery } })
        expect(found).toBe(accounts.evm)
      }
    })

    testIf(accounts.stellar)('signs messages for Stellar, 200 at the same time', async () => {
      const { stellar } = await open()
      const keypair = Keypair.fromPublicKey(accounts.stellar ?? '')
      const signatures = await Promise.all(numbers.map((index) => stellar?.sign(digestOf(index))))
      const verified = signatures.map((signature, index) =>
        keypair.verify(Buffer.from(digestOf(index)), Buffer.from(signature ?? [])),
      )
      expect(verified).toEqual(numbers.map(() => true))
    })

    testIf(accounts.solana)('signs messages of any length for Solana', async () => {
      const { solana } = await open()
      const publicKey = await getPublicKeyFromAddress(address(accounts.solana ?? ''))
      for (const index of numbers.slice(0, 20)) {
        const message = messageOf(index)
        const signature = (await solana?.sign(message)) ?? new Uint8Array()
        expect(await verifySignature(publicKey, signatureBytes(signature), message)).toBe(true)
      }
    })

    testIf(accounts.evm)('refuses what is not a digest', async () => {
      const { evm } = await open()
      await expect(evm?.sign(new Uint8Array(31))).rejects.toThrow(
        /A digest has 32 bytes|signs messages, not digests/,
      )
    })

    test('gives equal bytes for equal content', async () => {
      const { evm, solana } = await open()
      expect(await signEvm(evm, messageOf(1))).toEqual(await signEvm(evm, messageOf(1)))
      expect(await solana?.sign(messageOf(1))).toEqual(await solana?.sign(messageOf(1)))
    })
  })
}
