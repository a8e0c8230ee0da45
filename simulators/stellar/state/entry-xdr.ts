import { Asset, Keypair, SignerKey, xdr } from '@stellar/stellar-sdk'
import { addressOf, assetName } from './assets.ts'
import {
  type AccountEntry,
  accountKey,
  claimableBalanceKey,
  contractKey,
  dataKey,
  type Entry,
  type TrustlineEntry,
  trustlineKey,
} from './entries.ts'

/** Returns the key in the state of a ledger key; undefined for kinds of entries that this ledger never has. */
export function stateKeyOf(key: xdr.LedgerKey): string | undefined {
  switch (key.type) {
    case 'account':
      return accountKey(addressOf(key.account.accountId))
    case 'trustline': {
      const { accountId, asset } = key.trustLine
      if (asset.type === 'assetTypePoolShare') return undefined
      return trustlineKey(addressOf(accountId), assetName(asset))
    }
    case 'data':
      return dataKey(addressOf(key.data.accountId), key.data.dataName.toString())
    case 'claimableBalance':
      return claimableBalanceKey(key.claimableBalance.balanceId.toXdr('hex'))
    case 'contractData':
    case 'contractCode':
      return contractKey(key.toXdr('base64'))
    default:
      return undefined
  }
}

/** The entry as the network writes it (Stellar-ledger-entries.x). */
export function toLedgerEntry(entry: Entry): xdr.LedgerEntry {
  return new xdr.LedgerEntry({
    lastModifiedLedgerSeq: entry.lastModified ?? 0,
    data: toEntryData(entry),
    ext: xdr.LedgerEntryExt.v0(),
  })
}

/** The key of an entry as the network writes it. */
export function toLedgerKey(entry: Entry): xdr.LedgerKey {
  switch (entry.kind) {
    case 'account':
      return accountLedgerKey(entry.address)
    case 'trustline':
      return xdr.LedgerKey.trustline(
        new xdr.LedgerKeyTrustLine({
          accountId: idOf(entry.account),
          asset: assetOf(entry.asset).toTrustLineXdrObject(),
        }),
      )
    case 'data':
      return xdr.LedgerKey.data(
        new xdr.LedgerKeyData({ accountId: idOf(entry.account), dataName: entry.name }),
      )
    case 'claimableBalance':
      return xdr.LedgerKey.claimableBalance(
        new xdr.LedgerKeyClaimableBalance({ balanceId: xdr.ClaimableBalanceId.fromXdr(entry.id, 'hex') }),
      )
    case 'contract':
      return xdr.LedgerKey.fromXdr(entry.ledgerKey, 'base64')
  }
}

/** The key of an account (G…). */
export function accountLedgerKey(address: string): xdr.LedgerKey {
  return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: idOf(address) }))
}

/** The asset of a name. */
function assetOf(name: string): Asset {
  const [code = '', issuer] = name.split(':')
  return name === 'native' ? Asset.native() : new Asset(code, issuer)
}

/** Returns the content of an entry without the ledger of its last change. */
export function toEntryData(entry: Entry): xdr.LedgerEntryData {
  switch (entry.kind) {
    case 'account':
      return xdr.LedgerEntryData.account(toAccount(entry))
    case 'trustline':
      return xdr.LedgerEntryData.trustline(toTrustline(entry))
    case 'data':
      return xdr.LedgerEntryData.data(
        new xdr.DataEntry({
          accountId: idOf(entry.account),
          dataName: entry.name,
          dataValue: new xdr.DataValue(entry.value),
          ext: xdr.DataEntryExt.v0(),
        }),
      )
    case 'claimableBalance':
      return xdr.LedgerEntryData.claimableBalance(
        new xdr.ClaimableBalanceEntry({
          balanceId: xdr.ClaimableBalanceId.fromXdr(entry.id, 'hex'),
          claimants: [...entry.claimants],
          asset: assetOf(entry.asset).toXdrObject(),
          amount: entry.amount,
          ext: xdr.ClaimableBalanceEntryExt.v0(),
        }),
      )
    case 'contract':
      return entry.data
  }
}

function toAccount(account: AccountEntry): xdr.AccountEntry {
  const { master, low, medium, high } = account.thresholds
  return new xdr.AccountEntry({
    accountId: idOf(account.address),
    balance: account.balance,
    seqNum: account.sequence,
    numSubEntries: account.subEntries,
    inflationDest: null,
    flags: account.flags,
    homeDomain: account.homeDomain,
    thresholds: new xdr.Thresholds(Uint8Array.of(master, low, medium, high)),
    signers: account.signers.map(
      ({ key, weight }) => new xdr.Signer({ key: SignerKey.decodeAddress(key), weight }),
    ),
    ext: xdr.AccountEntryExt.v1(toExtension(account)),
  })
}

function toExtension({
  sponsoring,
  signers,
  sequenceLedger,
  sequenceTime,
}: AccountEntry): xdr.AccountEntryExtensionV1 {
  const v3 = new xdr.AccountEntryExtensionV3({
    ext: xdr.ExtensionPoint.v0(),
    seqLedger: sequenceLedger,
    seqTime: sequenceTime,
  })
  const v2 = new xdr.AccountEntryExtensionV2({
    numSponsored: 0,
    numSponsoring: sponsoring,
    signerSponsoringIDs: signers.map(() => null),
    ext: xdr.AccountEntryExtensionV2Ext.v3(v3),
  })
  return new xdr.AccountEntryExtensionV1({
    liabilities: new xdr.Liabilities({ buying: 0n, selling: 0n }),
    ext: xdr.AccountEntryExtensionV1Ext.v2(v2),
  })
}

function toTrustline({ account, asset, balance, limit, flags }: TrustlineEntry): xdr.TrustLineEntry {
  return new xdr.TrustLineEntry({
    accountId: idOf(account),
    asset: assetOf(asset).toTrustLineXdrObject(),
    balance,
    limit,
    flags,
    ext: xdr.TrustLineEntryExt.v0(),
  })
}

function idOf(address: string): xdr.AccountId {
  return Keypair.fromPublicKey(address).xdrAccountId()
}
