import { StrKey } from '@stellar/stellar-sdk/base'
import { expect, test } from 'vitest'
import { signMessage } from '../../../src/chains/stellar/sign.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'

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
