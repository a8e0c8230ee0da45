import type { Transaction } from '../../../../clients/typescript/src/index.ts'
import { describeCall } from '../../format/content.ts'
import { explorerLink } from '../../format/explorer.ts'
import { shorten } from '../../format/shorten.ts'
import type { Networks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Facts } from '../../parts/facts.tsx'
import { hrefOfRelayer, hrefOfTransaction } from '../../routing/routes.ts'

interface ContentFactsProps {
  readonly transaction: Transaction
  readonly networks: Networks
  /** The network of its relayer; undefined if the key may not read relayers. */
  readonly network: string | undefined
}

/** What a transaction is and where it can be looked at. */
export function ContentFacts({ transaction, networks, network = '' }: ContentFactsProps) {
  const { id, relayer_id, network_type, created_at, hash, from, after } = transaction
  const on = { network, network_type }
  const link =
    hash === undefined ? undefined : explorerLink(networks.find(on), { kind: 'transaction', id: hash })
  return (
    <Facts
      facts={{
        Id: <Copyable text={id} name="id" whole />,
        Relayer: <a href={hrefOfRelayer(relayer_id)}>{relayer_id}</a>,
        Accepted: <Age of={created_at} />,
        After: after && (
          <>
            <a href={hrefOfTransaction(after.relayer_id, after.transaction_id)}>
              <code title={after.transaction_id}>{shorten(after.transaction_id)}</code>
            </a>{' '}
            is {after.state}; otherwise {after.on_failure === 'cancel' ? 'canceled' : 'sent all the same'}
          </>
        ),
        Hash: hash && (
          <>
            <Copyable text={hash} name="hash" whole />{' '}
            {link && (
              <a href={link} target="_blank" rel="noreferrer noopener">
                Explorer ↗
              </a>
            )}
          </>
        ),
        From: <Copyable text={from} name="sender" whole />,
        ...(transaction.network_type === 'evm' && evmFacts(transaction, networks, network)),
        ...(transaction.network_type === 'stellar' && { Sequence: transaction.sequence_number }),
      }}
    />
  )
}

function evmFacts(
  {
    to,
    value,
    data,
    decoded_call: call,
    nonce,
    gas_limit: gas,
    private: isPrivate,
    made_public_at: publicAt,
  }: Extract<Transaction, { network_type: 'evm' }>,
  networks: Networks,
  network: string,
) {
  return {
    To: to === undefined ? 'a new smart contract' : <Copyable text={to} name="receiver" whole />,
    Value: <Amount of={value} currency={networks.currencyOf({ network, network_type: 'evm' })} isExact />,
    Call:
      data !== undefined && data !== '0x' ? <code class="call">{describeCall(data, call)}</code> : undefined,
    Contract: call?.contract_name ?? undefined,
    Nonce: nonce?.toString(),
    'Gas limit': gas?.toString(),
    Private:
      isPrivate &&
      (publicAt === undefined ? (
        'only private endpoints get it'
      ) : (
        <>
          until <Age of={publicAt} />
        </>
      )),
  }
}
