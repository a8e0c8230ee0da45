import { Asset, Networks, StrKey, xdr } from '@stellar/stellar-sdk'
import { describe, expect, test } from 'vitest'
import { createNetwork } from '../network.ts'
import { contractAddress } from '../soroban/keys.ts'
import { decodeFrame } from '../transaction/frame.ts'
import { createSignatureChecker } from '../transaction/signatures.ts'

const TESTNET = createNetwork({ passphrase: Networks.TESTNET })

/** From the Go SDK, network/main_test.go: a transaction of the old form, signed. */
const OLD_FORM =
  'AAAAAGL8HQvQkbK2HA3WVjRrKmjX00fG8sLI7m0ERwJW/AX3AAAACgAAAAAAAAABAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAArqN6LeOagjxMaUP96Bzfs9e0corNZXzBWJkFoK7kvkwAAAAAO5rKAAAAAAAAAAABVvwF9wAAAEAKZ7IPj/46PuWU6ZOtyMosctNAkXRNX9WCAI5RnfRk+AyxDLoDZP/9l3NvsxQtWj9juQOuoBlFLnWu8intgxQA'
const OLD_FORM_HASH = 'c492d87c4642815dfb3c7dcce01af4effd162b031064098a0d786b6e0a00fd74'
const FEE_BUMP_HASH = '4d4ce902637227fb8b522ae48ccdd69d32517246d9fc23ff8b7a85dd4bbcef5f'

function feeBumpAround(envelope: xdr.TransactionEnvelope): xdr.TransactionEnvelope {
  if (envelope.type !== 'envelopeTypeTx') throw new Error('It is read in the new form.')
  const payer = StrKey.decodeEd25519PublicKey('GCLOMB72ODBFUGK4E2BK7VMR3RNZ5WSTMEOGNA2YUVHFR3WMH2XBAB6H')
  const v1 = new xdr.TransactionV1Envelope({ tx: envelope.v1.tx, signatures: [] })
  const tx = new xdr.FeeBumpTransaction({
    fee: 123_456n,
    feeSource: xdr.MuxedAccount.keyTypeEd25519(payer),
    innerTx: xdr.FeeBumpTransactionInnerTx.envelopeTypeTx(v1),
    ext: xdr.FeeBumpTransactionExt.v0(),
  })
  return xdr.TransactionEnvelope.envelopeTypeTxFeeBump(
    new xdr.FeeBumpTransactionEnvelope({ tx, signatures: [] }),
  )
}

describe('hashes', () => {
  test('the old form has the hash that the Go SDK expects, and its signature holds', () => {
    const { hash, transaction, signatures } = decodeFrame(OLD_FORM, TESTNET)
    expect(hash).toBe(OLD_FORM_HASH)
    const checker = createSignatureChecker(hash, signatures)
    expect(checker.check([{ key: transaction.source, weight: 1 }], 1)).toBe(true)
    expect(transaction.source).toBe('GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H')
  })

  test('a fee bump has the hash that the Go SDK expects, and keeps that of what it wraps', () => {
    const { envelope } = decodeFrame(OLD_FORM, TESTNET)
    const bump = decodeFrame(feeBumpAround(envelope).toXdr('base64'), TESTNET)
    expect(bump.hash).toBe(FEE_BUMP_HASH)
    expect(bump.transaction.hash).toBe(OLD_FORM_HASH)
    expect(bump).toMatchObject({ kind: 'feeBump', fee: 123_456n, operationCount: 2 })
  })

  test.each([
    [Networks.PUBLIC, 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA'],
    [Networks.TESTNET, 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC'],
  ])('the contract of the native asset on "%s" is %s', (passphrase, address) => {
    const preimage = xdr.ContractIdPreimage.contractIdPreimageFromAsset(Asset.native().toXdrObject())
    expect(contractAddress(preimage, createNetwork({ passphrase }))).toBe(address)
  })
})

describe('strkeys of SEP-23', () => {
  const KEY = '3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a'

  test('an account and a contract of the same 32 bytes have their own strkeys', () => {
    const bytes = Buffer.from(KEY, 'hex')
    expect(StrKey.encodeEd25519PublicKey(bytes)).toBe(
      'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    )
    expect(StrKey.encodeContract(bytes)).toBe('CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA')
  })

  test.each([
    'GAAAAAAAACGC6',
    'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA',
    'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI',
    'G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I',
  ])('%s is none', (strkey) => {
    expect(StrKey.isValidEd25519PublicKey(strkey)).toBe(false)
  })
})

describe('results', () => {
  test.each([
    ['txTOO_LATE', 'AAAAAAAAAGT////9AAAAAA==', 'txTooLate'],
    ['txBAD_SEQ', 'AAAAAAAAAGT////7AAAAAA==', 'txBadSeq'],
    ['txINSUFFICIENT_FEE', 'AAAAAAAAAGT////3AAAAAA==', 'txInsufficientFee'],
  ])('%s is written as Stellar-transaction.x numbers it', (_name, base64, type) => {
    expect(xdr.TransactionResult.fromXdr(base64, 'base64').result.type).toBe(type)
  })
})
