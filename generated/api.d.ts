// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    readonly "/api/v1/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check that the process is alive
         * @description Returns `OK` if the process can respond at all. It checks nothing else.
         */
        readonly get: operations["getHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/ready": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check that the service can do its work
         * @description The service checks its database, networks, workers and relayers. `degraded` still answers 200: part of the work is impossible, for example
         *     because one network does not answer, or because a relayer is disabled. Only `unhealthy` answers 503; so does a service that is stopping, which
         *     still takes requests for a short time. The body is not wrapped in the envelope.
         */
        readonly get: operations["getReadiness"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/version": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the version of the service
         * @description Returns the version of the release, which is also that of this document. Every key can call it.
         */
        readonly get: operations["getVersion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read all metrics, or list their names
         * @description Answers with all metrics as text. To a caller that prefers `application/json` in its `Accept` header, with the names of the metrics.
         */
        readonly get: operations["listMetrics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/metrics/{metric_name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read one metric
         * @description Answers with the series of one metric as text. A metric that has no value yet has its description alone.
         */
        readonly get: operations["metricDetail"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/debug/metrics/scrape": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read all metrics
         * @description Answers with all metrics as text, whatever the `Accept` header says. Scrapers of OpenZeppelin Relayer use this path.
         */
        readonly get: operations["scrapeMetrics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List relayers
         * @description Lists the relayers of the configuration file and those that callers created, in the order of their creation, then by id.
         */
        readonly get: operations["listRelayers"];
        readonly put?: never;
        /**
         * Create a relayer
         * @description The service operates the account of a signer on a network from now on. The fields are those of a relayer in the configuration file; the
         *     account follows from the signer. When this answers, the relayer is stored, and every process of the service can use it.
         *
         *     - The network must be in the configuration file or well-known; otherwise the response is 400 `unknown_network`.
         *     - A signer or a notification that does not exist is 404 `signer_not_found` or `notification_not_found`.
         *     - An account has only one relayer, because two would take each other's nonces: otherwise 400 `account_taken`.
         *     - An `id` in use is 409 `already_exists`. The id of a deleted relayer can be used again; its transactions come back with it.
         *     - The service checks for at most 5 seconds which chain `custom_rpc_urls` serve. A wrong chain is 400 `wrong_chain`. An endpoint that does not
         *       answer is accepted, and `metadata.logs` says so.
         *     - The service checks the health of the relayer before it responds, for at most 5 seconds. A new account without money starts with
         *       `system_disabled`, and is enabled automatically soon after `min_balance` has arrived.
         */
        readonly post: operations["createRelayer"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a relayer
         * @description Returns the relayer as it is now, even if it is paused or disabled.
         */
        readonly get: operations["getRelayer"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a relayer
         * @description Removes the relayer; another relayer can then operate its account. The service keeps its transactions, and they come back when a relayer with
         *     this id is created again.
         *
         *     While any of its transactions is `pending`, `sent`, `submitted` or `mined` this is 400 `relayer_has_transactions`: the service abandons no
         *     accepted transaction. Pause the relayer, cancel them or wait, then try again. A relayer that refills others (`policies.top_up`) is 400
         *     `in_use`.
         */
        readonly delete: operations["deleteRelayer"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a relayer
         * @description Changes the fields that the body names and leaves the rest, as a JSON merge patch (RFC 7396): `null` removes a field, objects are merged,
         *     lists are replaced as a whole. The fields that determine the account cannot be changed. Concurrent changes to a relayer are applied one after
         *     the other; none is lost.
         *
         *     New `custom_rpc_urls` are checked as on creation. Responses mask URLs: to keep one of several, send all of them in full; to keep all, omit the
         *     field.
         *
         *     A policy that limits a relayer of the configuration file can be made stricter than the file, but not wider, unless its entry sets
         *     `api_may_relax`; otherwise it is refused with `policy_beyond_ceiling`. So are `allowed_rpc_methods` beyond the methods that read and those
         *     that the operator lists for the network, unless all endpoints of the relayer are callers' `custom_rpc_urls`.
         *
         *     Another `signer_id` moves the account to another copy of the same key, for example from a key file to an HSM that the key was imported into. A
         *     signer with another address is refused: the relayer, its nonces and its transactions belong to the account. Signed transactions stay as they
         *     are.
         *
         *     Paused and disabled relayers can be changed as well. If the endpoints, the signer or the policies changed, the service checks the relayer's
         *     health before it responds, and the response shows it enabled if the change helped. Changes to a relayer of the configuration file last until
         *     its entry in the file changes.
         */
        readonly patch: operations["updateRelayer"];
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/accept-nonces": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Accept nonces and transactions that the records do not explain
         * @description A relayer with the `disabled_reason` `UnexplainedNonces`, or on Solana `UnexplainedTransactions`, signs nothing, because its chain shows more
         *     transactions than the records: the database was restored from a backup, or another program uses the key. Before you call this, look up its
         *     open transactions in a block explorer and decide about those that were paid (`decideTransactions`), or they will be paid twice.
         *
         *     The service then accepts the nonces of the account and its channels as they are on the chain now, and checks the relayer immediately. On
         *     Solana, which has no nonces, it accepts the transactions of the account up to the newest final one; this is 400 `relayer_has_transactions`
         *     while a transaction of the relayer is undecided, because it would be signed again. If the records already explain everything, only the audit
         *     log records the call. If no endpoint answers, this is 500 `network_unavailable`.
         */
        readonly post: operations["acceptNonces"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/status": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the state of a relayer
         * @description Returns the relayer's account on its network and the number of its open transactions, even if the relayer is paused or disabled. If no
         *     endpoint answers within 5 seconds, the response omits `balance` and everything else that only the network knows, and `metadata.logs` says why.
         */
        readonly get: operations["getRelayerStatus"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the balance that a relayer can spend
         * @description Reads the balance from the network: on Stellar without the reserve, on Solana without the rent-exempt minimum. Transactions in flight are not
         *     subtracted. An account that does not exist yet has 0. If no endpoint answers within 5 seconds, this is 500 `network_unavailable`.
         */
        readonly get: operations["getRelayerBalance"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/usage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get what a relayer has spent of its limits
         * @description Returns each limit of the policy `rules` with what is left of it, and what the relayer spent in the last hour, day and 30 days. The maximum
         *     cost of open transactions counts as spent until the network has decided. Only relayers with limits are counted.
         */
        readonly get: operations["getRelayerUsage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/abis": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * List the ABIs of a relayer
         * @description Lists the contracts for which the relayer has an ABI, ordered by address, without the ABIs themselves. EVM only; a relayer on another network
         *     is refused with `not_supported`.
         */
        readonly get: operations["listAbis"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/abis/{address}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description The address of the contract.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly address: components["parameters"]["ContractAddress"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the ABI of a contract
         * @description Returns the ABI that is registered for the contract. EVM only; a relayer on another network is refused with `not_supported`.
         */
        readonly get: operations["getAbi"];
        /**
         * Register the ABI of a contract
         * @description Stores the ABI for this relayer's calls to the contract, replacing the current one. A request then needs only the function's name, as in
         *     `call: { function: transfer, args: { to: …, amount: … } }`, and transactions, events and webhooks show `decoded_call`, also for earlier
         *     transactions. Transactions store only their data, so changing an ABI changes no accepted transaction.
         *
         *     The service does not check on the chain that the contract has these functions. EVM only; a relayer on another network is refused with
         *     `not_supported`. A relayer has at most 200 ABIs of at most 256 KiB. They are deleted with the relayer.
         */
        readonly put: operations["registerAbi"];
        readonly post?: never;
        /**
         * Delete the ABI of a contract
         * @description Deletes the ABI. Calls to the contract then need the function's signature, and are decoded only if they match a standard function.
         */
        readonly delete: operations["deleteAbi"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/sign": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sign a message with a relayer
         * @description Signs the UTF-8 bytes of `message`. The service does not decode a `message` that looks like hexadecimal; it is text like any other. Nothing is
         *     sent to a network.
         *
         *     - EVM: a personal message (EIP-191): Keccak-256 of `\x19Ethereum Signed Message:\n`, the number of bytes, and the bytes.
         *     - Stellar: SEP-53: SHA-256 of `Stellar Signed Message:\n` and the bytes. `r` and `s` are the two halves of the signature; `signature` has it
         *       in base64, and `public_key` the account.
         *     - Solana: the bytes themselves, as wallets do. Two kinds of message are refused with `invalid_request`: one whose bytes are a transaction,
         *       because the signature would also sign that transaction, and one of exactly 32 bytes, because it can be a transaction hash on Stellar; add or
         *       remove a character. `r` and `s` are the two halves of the signature; `signature` has it in base58, and `public_key` the account.
         *
         *     Paused and disabled relayers do not sign.
         */
        readonly post: operations["signMessage"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/sign-typed-data": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sign structured data with a relayer
         * @description Signs structured data (EIP-712): the Keccak-256 of `0x1901`, the hash of the domain and the hash of the message. Send either the two hashes,
         *     or the whole document, from which the service computes them. EVM only; a relayer on another network is refused with `not_supported`. Nothing
         *     is sent to a network.
         *
         *     A document must be complete: every field of a type needs a value. A field that its type does not declare is refused, with its path: many
         *     wallets ignore it, so it looks signed and is not. If `types` has no `EIP712Domain`, the service builds it from the standard fields in
         *     `domain`, in their standard order. It refuses a `Transaction` in the domain `zkSync`, version `2`, because that signature would be one of a
         *     transaction on ZK Stack networks; as hashes, it refuses the domains of the known networks of that kind.
         *
         *     The `chainId` of the domain must be that of the relayer's network, unless the relayer's policy `typed_data_chain_ids` names it or has `*`;
         *     otherwise the response is 400 `chain_id_mismatch`. Hashes, and a domain without a `chainId`, can be valid on every chain: if the account also
         *     has a relayer on another EVM network, they need the policy with `*`. A signature for a chain on which the account has another relayer needs
         *     that relayer's consent: the key must see it, it must not be paused or disabled, and its rules apply. A key that is limited to `networks` signs
         *     documents only for these networks, and neither hashes nor domains without a `chainId`.
         *
         *     Paused and disabled relayers do not sign.
         */
        readonly post: operations["signTypedData"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/sign-transaction": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sign a transaction and send it yourself
         * @description Signs a transaction exactly as it is, and returns the signed bytes. The service sends and stores nothing, and the account's next nonce does
         *     not change: if you send the bytes, and the service uses the same nonce or sequence number, the network executes only one of the two. To let
         *     the service price, number, watch and raise a transaction, use `sendTransaction` instead.
         *
         *     The rules of sending apply: the balance must cover the transaction's maximum cost on top of everything in flight and `min_balance`. If no node
         *     returns the balance, the service signs nothing (`network_unavailable`). The relayer's `network_type` determines the body; another one is
         *     `wrong_network_type`.
         *
         *     - **EVM**: the fields of a request with its `nonce`, `gas_limit` and price, or the same in RLP: type 0 with a chain id, or type 2 without an
         *       access list. `gas_price_cap` and `whitelist_receivers` apply.
         *     - **Stellar**: an envelope that is not a fee bump. The relayer must be the source of the transaction or of one of its operations. The policy
         *       `max_fee`, or its default, limits the fee if the relayer pays it. Other signatures are kept. The signature is for the relayer's network.
         *     - **Solana**: a transaction with the relayer as its fee payer; signatures of others may still be missing. The policies of sending apply, and
         *       it must pass a simulation.
         *
         *     Paused and disabled relayers do not sign.
         */
        readonly post: operations["signTransaction"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/sign-authorization-entry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Authorize smart contract calls in a third party's transaction
         * @description Signs the preimage of an authorization entry, so that a transaction with another source can call contracts on behalf of the relayer: SHA-256
         *     of the preimage, signed with the relayer's key. Put `signature` and `public_key` into the credentials of the entry, as `authorizeEntry` of
         *     @stellar/stellar-sdk does. Stellar only; a relayer on another network is refused with `not_supported`. Nothing is sent to a network; anyone
         *     with the entry can use it once, until its last ledger.
         *
         *     The service only signs a preimage of the type `envelopeTypeSorobanAuthorization`, or `envelopeTypeSorobanAuthorizationWithAddress` with the
         *     address of the relayer. Its network id must be that of the relayer's network, and its `signatureExpirationLedger` one of the 120 ledgers after
         *     the newest one (about 10 minutes); if no node returns the newest ledger, the service signs nothing (`network_unavailable`).
         *
         *     The rules of the relayer and of the API key apply to the root invocation and all below it, as if the relayer made each call: contracts,
         *     receivers and amounts of token calls, and calls that cannot be read. Authorized amounts count in the budgets permanently. If a rule would
         *     require an approval, the request is refused.
         *
         *     Paused and disabled relayers do not sign.
         */
        readonly post: operations["signAuthorizationEntry"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/rpc": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Call the network of a relayer, or the relayer as a wallet
         * @description Forwards JSON-RPC 2.0 calls to the relayer's network, one call or a batch of at most 50. If an endpoint does not answer, the service tries the
         *     next one. The response is JSON-RPC without the envelope, with status 200 even for errors of the node; the responses of a batch come in the
         *     order of its calls. Numbers keep every digit. A call without `id` is answered with the id 1. The rate limit counts each call of a batch, and
         *     each call of a bundle (`wallet_sendCalls`).
         *
         *     `allowed_rpc_methods` lists the forwarded methods. If absent, those are the methods that read, price and simulate, such as `eth_call`,
         *     `eth_getLogs`, `simulateTransaction` and `getAccountInfo`, but none that signs, sends, administers or keeps state on a node. Any other method
         *     returns the error -32601 and never reaches the node. If no endpoint answers, the error is -33002. A relayer with the policy
         *     `private_transactions` passes `eth_sendRawTransaction` only to the private endpoints of the network, and of the other methods only those that
         *     read, price and simulate. Paused and disabled relayers forward nothing.
         *
         *     **A relayer as a wallet.** With the policy `wallet_rpc: true`, an EVM relayer answers the methods of a wallet itself (`eth_accounts`,
         *     `eth_sendTransaction`, `eth_signTransaction`, `personal_sign`, `eth_signTypedData_v4`, `wallet_sendCalls` and others), so that a library such
         *     as viem or ethers needs only this URL and the API key. `docs/wallet-rpc.md` lists each with the scope that it needs besides `rpc`; without
         *     that scope the error is 4100, and nothing happens. Rules, budgets, approvals and the audit log apply as in the operation that does the same.
         *     Parameters are positional. A Solana relayer answers `feeEstimate` and six more methods itself: `docs/sponsored.md` lists them.
         *
         *     The relayer numbers its transactions: `eth_sendTransaction` with another `nonce` than the next one, or with an unknown field, is refused with
         *     -32602. The same nonce with the same content is the same transaction. A transaction that is not signed within 10 s, or half of
         *     `REQUEST_TIMEOUT_SECONDS` if that is less, or that waits for an approval, returns the error -32002 with its id in `data.transactionId`. **It
         *     is accepted: do not send it again.** Calls of a batch that send run one after the other; one that has not started by then returns the error
         *     -32005 and did nothing. A bundle with your own `id` can be sent again: the same calls return the same bundle, others the error 5720.
         *
         *     A node's response, or all responses of a batch together, can have up to 8 MiB, 250,000 JSON values and 512 levels of nesting. A larger one
         *     returns the error -32005.
         */
        readonly post: operations["callRpc"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/transactions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Search the transactions of all relayers
         * @description Lists the transactions of every relayer that the API key sees, in order of acceptance, newest first, including those of deleted relayers. Each
         *     filter narrows the list. Attempts are omitted; get a single transaction to see them.
         *
         *     To continue, pass `pagination.next_cursor` as `cursor` with the same filters, until it is null. Newly accepted transactions do not shift the
         *     pages: none appears twice. A page can be short, or empty, although more follow: one request scans about 20000 transactions of all relayers
         *     together, and a combination of filters can exclude most of them. The search by `id`, by `hash` or by `idempotency_key` reads only the
         *     transaction itself, that by `reference`, `to`, `asset`, `user_id`, `requested_by` or `status` only those that have it, and `created_after`
         *     and `created_before` only those of this time, and of ten minutes around it.
         */
        readonly get: operations["searchTransactions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        /**
         * List the transactions of a relayer
         * @description Lists transactions in order of acceptance, newest first. Attempts are omitted; get a single transaction to see them.
         */
        readonly get: operations["listTransactions"];
        readonly put?: never;
        /**
         * Send a transaction
         * @description Stores the request and returns the transaction with the status `pending`. A success means that the transaction is stored durably and will be
         *     executed at most once; pricing, signing and broadcasting follow within moments.
         *
         *     The relayer's `network_type` determines the body; one of another type is refused with `wrong_network_type`. Before it stores anything, the
         *     service checks the request against the relayer's policies, and refuses a request that would revert, with the decoded reason.
         *
         *     **Sending once.** If a response is lost, you can repeat a request that has an `Idempotency-Key`: the key is stored with the transaction, and
         *     the same key with the same body returns that transaction as it is now (`metadata.logs` says so), even if the relayer has since been paused.
         *     Any number of such concurrent requests create one transaction. The same key with another body is 409 `idempotency_key_reused`. Bodies are the
         *     same if they are equal as JSON: the order of fields and the spelling of amounts (`1`, `"1"`) do not matter. A refused request does not use up
         *     its key. A key belongs to one relayer and to the API key that uses it: another API key that uses the same one sends another transaction. It is
         *     kept as long as its transaction.
         *
         *     **Dry run.** `?dry_run=true` returns what would happen and changes nothing: the prepared fees, the simulation's result, each rule's verdict,
         *     and the amounts that would be reserved. A used `Idempotency-Key` works as in a send: another body is refused with `idempotency_key_reused`;
         *     for the same body, `metadata.logs` names the transaction that would be returned, and nothing would be spent. A dry run uses no key up.
         */
        readonly post: operations["sendTransaction"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/batch": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send many transactions in one request
         * @description Accepts all transactions of the list or none, in one database transaction. The order of the list is the order of acceptance, and so, on EVM
         *     and Stellar, the order of a source account's nonces or sequence numbers. Each item is checked like a single request to `sendTransaction`, and
         *     the balance, the budgets and the rules count the items before it. If one item is refused, so is the batch, and the error begins with its path:
         *     `body.transactions[3].gas_limit: …`.
         *
         *     All or none applies only to acceptance. Afterwards the transactions are independent: one that reverts stops no other. Items are simulated on
         *     the current chain, without the items before them. A call that only works after an earlier item, such as one that needs a token allowance, must
         *     set its `gas_limit`, which skips the simulation.
         *
         *     **Sending once.** Each item may have an `idempotency_key`, which counts like the header `Idempotency-Key` of a single request with the other
         *     fields of the item as its body. An item whose key was used before with the same content returns its transaction as it is now, and the others
         *     are accepted; with other content, the batch is refused with 409 `idempotency_key_reused`. So you can repeat a batch whose items all have keys
         *     if its response was lost. The header is refused, because it cannot tell the items apart.
         *
         *     A batch has up to 100 transactions, within the usual limits of a body: by default 1 MiB, and 20000 JSON values. The rate limit counts each
         *     transaction. There is no dry run of a batch.
         */
        readonly post: operations["sendTransactionBatch"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/sponsored/quote": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Quote a fee in a token
         * @description Returns what a user would pay in a token for the fee of a transaction that the relayer pays (Stellar and Solana; EVM is `not_supported`).
         *     `fee_token` must be one of the policy `allowed_tokens`, and its price known: without a price there is no quote (`price_unavailable`). The fee
         *     includes `fee_margin_percentage` and the slippage, is rounded up, and is refused above `max_allowed_fee`.
         *
         *     The quote holds for 60 s and for this content only: `buildSponsoredTransaction` then builds for the same amount, unless the network's fee has
         *     risen. Nothing is signed or sent. `docs/sponsored.md` has the whole story.
         */
        readonly post: operations["quoteSponsoredTransaction"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/sponsored/build": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Build a transaction that pays its fee in a token
         * @description Adds the payment of the fee to the transaction of a user, and returns it for the user to sign. Then send it with `sendTransaction`: exactly as
         *     it is, once, before `valid_until` (Solana: `valid_until_blockheight`). Anything else is refused with `payment_required`, and costs nothing.
         *
         *     - **Stellar**: a payment is the last operation. Send the signed `transaction` with `fee_bump: true`. For the call of a smart contract, the
         *       contract `fee_forwarder` takes the payment: the user signs `user_auth_entry`, and you send the `transaction` with `signed_auth_entry`.
         *     - **Solana**: the relayer becomes the fee payer, and a token transfer is added. Earlier signatures are removed.
         *
         *     With `fee_payment_strategy: relayer` nothing is paid, and the fee in the token is for information.
         */
        readonly post: operations["buildSponsoredTransaction"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/by-nonce/{nonce}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description A nonce of the relayer's account. Anything else than an integer in this range is refused.
                 * @example 42
                 */
                readonly nonce: components["parameters"]["Nonce"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the transaction that has a nonce
         * @description Returns the transaction with this nonce of the relayer's account, as it is now, with every attempt. EVM only; a relayer on another network is
         *     refused with `not_supported`. A nonce that the service never assigned, or that another program used, is Not found.
         */
        readonly get: operations["getTransactionByNonce"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/pending": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Cancel every waiting transaction
         * @description Cancels each `pending`, `sent` and `submitted` transaction that the caller sent with this relayer, one by one, as `cancelTransaction` does: a
         *     transaction that was never broadcast is `canceled` immediately; otherwise a no-op replaces it, and it ends as the network decides. The newest
         *     are canceled first, so that an interruption leaves the beginning of a sequence, never its end alone.
         *
         *     One request handles at most 1000 transactions and starts none after 10 seconds; `remaining` counts the rest, and repeating the request
         *     continues with them. It skips transactions that arrive in the meantime, running cancellations, and the service's own transactions, so
         *     repeating it does nothing twice. A failed cancellation does not stop the others: `failures` has the reasons.
         *
         *     While the relayer is paused or disabled (`system_disabled`), only unsigned transactions are canceled; if there are none, the response is 400
         *     `relayer_paused` or `relayer_disabled`.
         */
        readonly delete: operations["deletePendingTransactions"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/decisions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Decide what happened to many transactions
         * @description Decides about each transaction of the list, as `decideTransaction` does, in the order of the list. Each decision stands for itself: one
         *     that is refused stops no other, and `failures` has the reasons. After a restore, `relayer restore check` writes such a list, with what
         *     it saw on the chain.
         */
        readonly post: operations["decideTransactions"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a transaction
         * @description Returns the transaction as it is now, or after a `wait`, with every attempt that was ever signed.
         */
        readonly get: operations["getTransactionById"];
        /**
         * Replace a transaction with a new one
         * @description The body is a complete new request, not a change of the old one. The transaction keeps its `id`, `relayer_id` and `created_at`, and on EVM and
         *     Stellar its nonce or sequence number, so that the network executes at most one of the two versions. `pending`, `sent` and `submitted`
         *     transactions can be replaced; any other status is refused with `transaction_not_replaceable`. So is a transaction that waits for an approval,
         *     because the approval is for exactly this content: cancel it and send the new content as a new transaction.
         *
         *     While nothing is signed (`pending`), the content simply changes. From `sent` on, the transaction may be in a mempool, and the network's rules
         *     apply; `docs/replacing.md` explains them.
         *
         *     - **EVM**: both fees must be at least 110 % (rounded up) of those of the newest attempt. Explicit prices are used exactly, or refused with
         *       `replacement_underpriced`, where `error` names the minimum; a node can refuse the signed bytes with the same code. With `speed`, or without
         *       a price, the service takes the higher of market price and minimum. A price above `gas_price_cap` is refused with `gas_price_above_cap`.
         *     - **Stellar**: the new version is sent in a fee bump that bids at least ten times the highest open bid per operation, within `max_fee`;
         *       otherwise it is refused with `replacement_underpriced`, and `error` names the `max_fee` that would do. An externally signed
         *       `transaction_xdr` with another sequence number waits until the earlier version has expired. One without time bounds never expires: only the
         *       same source and sequence number can replace it, and anything else is refused with `not_supported`. A new version that would expire before
         *       the earlier one is refused with `invalid_request`, and one that another transaction already has with `already_accepted`.
         *     - **Solana**: two versions do not exclude each other, so the new one waits, about a minute, until the earlier blockhash has expired and the
         *       chain proves that it was not included. Transactions with the same durable nonce are replaced immediately.
         *
         *     While a new version waits, including for the decision about an undecided transaction, the response and the record show the earlier one;
         *     `metadata.logs` and `status_reason` say so.
         *
         *     Returns the transaction as it is now; its `hash` has been or will be broadcast, and `metadata.logs` says what happened to the fees. If the
         *     network includes the older version after all, the record shows the content and hash of that version, and `status_reason` explains it.
         *     Concurrent replacements are handled one after the other.
         */
        readonly put: operations["replaceTransaction"];
        readonly post?: never;
        /**
         * Cancel a transaction
         * @description Replaces the transaction with a no-op, under the rules of replacing. A transaction that was never broadcast is `canceled` immediately.
         *     Otherwise it keeps its status until the network has decided: it ends as `canceled` if the no-op is included or the transaction can no longer
         *     be, and otherwise as the network decided.
         *
         *     - **EVM**: the no-op is a transfer of 0 from the account to itself, with the same nonce. If a node refuses it (`replacement_underpriced`), the
         *       transaction counts again, unless a block includes the no-op after all; the record then says so.
         *     - **Stellar**: the no-op is a `bump_sequence` to 0, with the same sequence number. The service cannot cancel an externally signed transaction
         *       (`not_supported`), because only its signer can use its sequence number. If a replacement waits for such a transaction to expire, canceling
         *       drops the replacement, and the transaction ends as `canceled` when the ledger proves that it was not included.
         *     - **Solana**: there is no no-op. The service stops broadcasting the transaction, and ends it as `canceled` when its blockhash has expired and
         *       an endpoint shows that no block includes it. With a durable nonce that belongs to the relayer, the no-op advances the nonce account.
         *
         *     While the relayer is paused or disabled (`system_disabled`), only an unsigned transaction can be canceled; otherwise the response is 400
         *     `relayer_paused` or `relayer_disabled`.
         *
         *     With `unsigned_only=true`, only a transaction without a nonce and without signed bytes is canceled, so no no-op is ever paid for. Any other is
         *     400 `transaction_not_replaceable`, and stays as it is.
         */
        readonly delete: operations["cancelTransaction"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/decision": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Decide what happened to a transaction
         * @description Decides about a transaction with `undecided_since`, or about a `pending` one of a relayer that is paused or disabled: after a restore, the old
         *     service may have sent it when the backup was already taken. Check the account in a block explorer first: if the decision is wrong, the
         *     transaction is paid twice, or not at all. The audit log records it.
         *
         *     - `included: true`: a block includes it. It ends as `confirmed` and is never sent again. With `hash`, the record has that hash; where no
         *       attempt has it, the record has no fees and no receipt. Events and webhooks say the same, with the reason in `status_reason`.
         *     - `included: false`: no version of it is in the chain. An undecided one is signed again, or ends if the caller canceled it or
         *       `valid_until` has passed; a `pending` one stays as it is, and is signed when the relayer is resumed.
         *
         *     A decision about a `pending` transaction takes effect immediately, any other one at the next block, unless the chain shows an inclusion; a
         *     later inclusion overrides it. Any other transaction is 400 `transaction_not_undecided`, and so is a `pending` one of a relayer that signs.
         */
        readonly post: operations["decideTransaction"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/diagnosis": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        /**
         * Explain why a transaction waits
         * @description Explains the state of a transaction, for people (`summary`, `message`) and for programs (`code`, `action`): its position in the account's
         *     queue, its fee compared with the market, missing predecessors, the balance, the nodes' replies, and the service's next step with its time. It
         *     queries the network, so use it to inspect one transaction, not to poll. Facts that no node returned are absent.
         */
        readonly get: operations["diagnoseTransaction"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/receipt": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the receipt of a transaction with its logs
         * @description Gives the `receipt` of the record, and asks the network for what the transaction emitted: on EVM its logs, decoded by the registered ABIs and
         *     the events of ERC-20, ERC-721 and ERC-1155; on Stellar the return value and the events of its contracts; on Solana the log of its programs.
         *     The service does not store these, so nodes tell them only as long as they keep them. At most 500 entries and 256 KiB are returned, and
         *     `truncated` tells whether there are more.
         *
         *     For a transaction that no block includes, this is 400 `transaction_not_included`. When no endpoint tells it within 5 seconds, or one has it in
         *     another block than the record, this is 500 `network_unavailable`: nothing is known about the logs then.
         */
        readonly get: operations["getTransactionReceipt"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/approval": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get the approval of a transaction
         * @description Returns why a transaction waits or waited for an approval, who sent it, until when it waits, and who decided. A transaction that no rule
         *     stopped has none: 404 `approval_not_found`.
         */
        readonly get: operations["getApproval"];
        readonly put?: never;
        /**
         * Approve or refuse a transaction
         * @description Approves or refuses a transaction that waits for an approval. Its content cannot change while it waits, so the decision is about exactly what
         *     `getTransactionById` shows.
         *
         *     - `approve`: the service simulates it again and sends it like any other. The account must be able to pay for it now; otherwise the response is
         *       400 `insufficient_balance`, and it still waits.
         *     - `refuse`: it ends as `canceled`, nothing is signed, and its budgets are released.
         *
         *     The API key that sent it cannot decide (403 `own_approval`), whatever its scopes. The first decision counts: repeating it with the same key
         *     returns 200 again, and any other decision 409 `approval_decided`, as does one after the transaction was canceled or expired.
         */
        readonly post: operations["decideApproval"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/approvals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List approvals
         * @description Lists the approvals of all relayers that the API key sees, newest first: with `state=waiting`, those that need a decision now.
         */
        readonly get: operations["listApprovals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/schedules": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List schedules
         * @description Lists the schedules of all relayers that the API key sees, in the order of their creation, then by id.
         */
        readonly get: operations["listSchedules"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/schedules": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Create a schedule
         * @description Sends a transaction again and again. Each run is an ordinary transaction with its own record, decided when its time comes by everything that
         *     decides about a send: policies, simulation, rules, budgets, plugins, approvals. It is sent in the name of the API key that created, changed
         *     or resumed the schedule last; a person who is signed in cannot do that (400 `not_supported`), because a session ends.
         *
         *     What is wrong in every run is refused now. What may pass until a run (a revert, a low balance, a used budget) is only told in
         *     `metadata.logs`. A relayer and an API key have at most 100 schedules each. `docs/schedules.md` explains the rest.
         */
        readonly post: operations["createSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a schedule
         * @description Returns the schedule as it is now.
         */
        readonly get: operations["getSchedule"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a schedule
         * @description Deletes the schedule with the record of its runs. Transactions that were sent stay; cancel those that should not be executed.
         */
        readonly delete: operations["deleteSchedule"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change, pause or resume a schedule
         * @description Changes the given fields; null removes an optional one, and a `transaction` replaces the current one as a whole. Transactions that were sent
         *     stay as they are. `paused: true` sends nothing until `paused: false`, and the times between are not missed.
         *
         *     Except for a pause and a name, the schedule sends in the name of the caller from then on, and what was approved once is approved again.
         */
        readonly patch: operations["updateSchedule"];
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        /**
         * List the runs of a schedule
         * @description Lists what became of the times of the schedule, newest first. The newest 1,000 are kept.
         */
        readonly get: operations["listScheduleRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/next-runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        /**
         * List the next runs of a schedule
         * @description Lists the next times of an active schedule, of at most a year. Any other schedule has none.
         */
        readonly get: operations["listNextRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/relayers/{relayer_id}/schedules/{schedule_id}/approval": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Approve or refuse a schedule
         * @description Decides about a schedule that waits for an approval (`approval: once`). The approval covers the reasons in `approval_reasons`: a run for which
         *     a rule gives another reason still waits by itself. A refused schedule is paused. The API key in whose name it sends cannot decide (403
         *     `own_approval`). A `version` that is no longer current, or a schedule that does not wait, is 409 `approval_decided`.
         */
        readonly post: operations["decideSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List notifications
         * @description Lists the destinations for events in order of creation, then by id. It is not rate-limited.
         */
        readonly get: operations["listNotifications"];
        readonly put?: never;
        /**
         * Create a notification
         * @description The service then sends a `webhook` the events of the relayers that name it in `notification_id`, and the other types alerts, of every relayer,
         *     network, notification and API key: a message for Slack, an incident that begins and ends for PagerDuty and Opsgenie, a mail. `url` must be an
         *     allowed `http://` or `https://` URL: private addresses are refused unless the deployment allows them (`RELAYER_ALLOW_PRIVATE_URLS`), and cloud
         *     metadata services always. Names are resolved at each delivery, and their addresses are held to the same rule. A deployment with
         *     `RELAYER_SMTP_URL` sends mails to the domains of `RELAYER_SMTP_RECIPIENT_DOMAINS`.
         *
         *     Keys are stored encrypted. A deployment without `STORAGE_ENCRYPTION_KEY` accepts none (400 `not_supported`). An `id` that a notification, or
         *     an entry of the configuration file, already has is a conflict.
         */
        readonly post: operations["createNotification"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a notification
         * @description Returns one destination for events, without its signing key.
         */
        readonly get: operations["getNotification"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a notification
         * @description Deletes the notification with its signing keys and all deliveries, including waiting ones; the events stay in the log. A notification that a
         *     relayer names in `notification_id` cannot be deleted (400 `in_use`): change the relayer first. One of the configuration file stays deleted
         *     until its entry in the file changes.
         */
        readonly delete: operations["deleteNotification"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a notification
         * @description A merge patch (RFC 7396): omitted fields stay the same. Waiting deliveries go to the new `url`; a notification that is paused because its
         *     receiver answered 410 resumes with a new one. A new `signing_key` replaces the previous ones immediately; to let both sign for a while, use
         *     `POST …/signing-key`. `null` or an empty text for `signing_key` ends the signing.
         *
         *     Responses show URLs without their secrets. A masked `url` is refused: send the full URL, or omit the field. A new `url` of PagerDuty or
         *     Opsgenie needs the `integration_key` as well. The type stays.
         *
         *     For a notification of the configuration file, the change lasts until its entry in the file changes.
         */
        readonly patch: operations["updateNotification"];
        readonly trace?: never;
    };
    readonly "/api/v1/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the event log
         * @description Lists everything that happened, oldest first: status changes and new attempts of transactions, and relayers that the service disabled or
         *     enabled. Each event is written in the same database transaction as its change, so none is missing.
         *
         *     Events have numbers. Remember the `number` of the last one that you processed and pass it as `after`: no event is ever inserted before a
         *     number that you have seen. Only an empty list means that you are up to date: a list ends early, after at least one event, when its events
         *     exceed 256 KiB. Events are kept for 30 days by default; `metadata.logs` says if some after your cursor were deleted.
         */
        readonly get: operations["listEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/alerts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the firing alerts
         * @description Lists what needs a person's attention now, oldest first. The beginning and the end of an alert are also events of type `alert`. A key that is
         *     limited to relayers or networks sees only the alerts about its relayers.
         */
        readonly get: operations["listAlerts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/events/stream": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Follow the event log
         * @description Sends everything after the cursor as server-sent events, then each event as it happens. `id` of each is its number, `event` its type, `data`
         *     the event as `listEvents` shows it, in one line of JSON. The service sends a comment when nothing has happened for 15 s.
         *
         *     The stream begins with an `id` without an event: the number after which it begins. A client that loses the connection before the first event
         *     reconnects with it.
         *
         *     A client that can set headers sends its API key, reconnects with `Last-Event-ID`, and misses nothing. A browser's `EventSource` cannot: it
         *     opens the stream with a ticket from `createStreamTicket` instead. A ticket is valid once, so an `EventSource` that reconnects automatically
         *     gets 401 and gives up; the page then requests a new ticket and opens the stream with `after`. The ticket's filters apply; `relayer_id` and
         *     `type` may repeat them. Pages of other origins can read the stream if the deployment lists their origin.
         *
         *     The stream ends when the service stops, or after `duration` seconds. A slow reader gets the rest later; a reader that stops reading is
         *     disconnected. While an API key has too much unread data, its streams wait. By default an API key can have 100 streams at a time; another one
         *     gets 429.
         */
        readonly get: operations["streamEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/events/stream-tickets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get a ticket for an event stream
         * @description Issues a ticket with which a browser opens one event stream: `GET /api/v1/events/stream?ticket=…`. It is valid for one connection within 60 s,
         *     and for nothing else. Request it in your backend, which has the API key, and pass it to your page. The stream has only the events that the
         *     body names, and counts as one of this API key.
         */
        readonly post: operations["createStreamTicket"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        /**
         * List the deliveries of a notification
         * @description Lists delivered, pending and dead deliveries, newest event first.
         */
        readonly get: operations["listDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/deliveries/{delivery_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
                /**
                 * @description Id of the delivery. A delivery of another notification is Not found.
                 * @example 01a3c2f4-77aa-8c10-8000-0000000004b4
                 */
                readonly delivery_id: components["parameters"]["DeliveryId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a delivery with its newest request and response
         * @description Returns the body of the delivery, and the request and response of its newest attempt.
         */
        readonly get: operations["getDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/deliveries/{delivery_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
                /**
                 * @description Id of the delivery. A delivery of another notification is Not found.
                 * @example 01a3c2f4-77aa-8c10-8000-0000000004b4
                 */
                readonly delivery_id: components["parameters"]["DeliveryId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Deliver again
         * @description Sends the same event with the same id again, whatever its status. A delivery that waits for a retry is sent now. Its time limit starts again.
         */
        readonly post: operations["redeliverDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Deliver many again
         * @description Sends all dead letters, or everything in a range of event numbers, again, for example after a receiver was down for longer than the service
         *     retries, or lost its data. One call handles at most 1000 deliveries, oldest first; `remaining` is the number left.
         */
        readonly post: operations["redeliverDeliveries"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send a test event
         * @description Writes an event of type `notification_test` that is delivered like any other, with signature and retries. Find it among the deliveries by
         *     `event_id`.
         */
        readonly post: operations["sendTestEvent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Pause a notification
         * @description The service stops sending; deliveries wait. Running requests finish.
         */
        readonly post: operations["pauseNotification"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Resume a notification
         * @description The service sends the waiting deliveries. The time limit of each starts again.
         */
        readonly post: operations["resumeNotification"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/notifications/{notification_id}/signing-key": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change the signing key
         * @description The new key signs immediately. For `overlap_seconds` each delivery also has the previous key's signature: the header `webhook-signature` has
         *     both, and `X-Signature-Previous` is the previous key's `X-Signature`. Change the key in the receiver during that time, and nothing is refused.
         *
         *     Keys are stored encrypted. A deployment without `STORAGE_ENCRYPTION_KEY` accepts keys only from its configuration (400 `not_supported`). A key
         *     changed in the configuration file takes effect at the next start, with an overlap of a day.
         */
        readonly post: operations["rotateSigningKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports/spending": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Report fees and values
         * @description Adds up what the transactions of visible relayers moved and cost, by day, relayer and API key, as JSON or, if the caller accepts `text/csv`,
         *     as CSV with the same columns. A transaction counts on the day (UTC) of its confirmation, once its block is final; failed executions and
         *     cancellations also cost fees. The sums are exact and include deleted relayers.
         *
         *     A value is what the content itself moves: an allowance moves nothing, and what contracts move on their own is not counted. A report of more
         *     than 50000 transactions is refused as `report_too_large`; request shorter periods and add them up.
         */
        readonly get: operations["getSpendingReport"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports/transactions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export transactions as CSV
         * @description Writes what `searchTransactions` finds with the same filters as CSV, oldest first: a row for each transfer, and one for a transaction without
         *     any. Amounts are exact, in the smallest unit and, if the decimals are known, in coins; the fee that the account paid is in the first row of
         *     its transaction. `expected` is `true` until a block tells the transfer. No cell is a formula: an apostrophe precedes what a spreadsheet would
         *     calculate.
         *
         *     The rows are read while the file is sent. A connection that breaks has not sent all. More than 50000 transactions are refused as
         *     `report_too_large`; request shorter periods.
         */
        readonly get: operations["exportTransactions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports/activity": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Report what was sent, spent and waited
         * @description Counts the transactions of visible relayers that were accepted in a period, by hour or day (UTC) and network, and by relayer or API key if
         *     `by` says so: their status now, the fees that blocks charged, and the time until a block included them. The ten largest relayers or keys have
         *     rows of their own. Only the newest 50000 transactions of the period are counted; `complete_from` says from when on these are all. A period has
         *     at most 200 steps.
         */
        readonly get: operations["getActivity"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/audit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the audit log
         * @description Lists who changed, sent or signed what, newest first. Each filter narrows the list. To continue, pass the `id` of the last entry as `before`:
         *     newly written entries do not shift the pages. An empty list is the end.
         *
         *     Secrets are hidden as in other responses: URLs are masked, and keys are omitted. An entry about a transaction or a signature has the SHA-256
         *     of the content, not the content.
         */
        readonly get: operations["listAuditEntries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/signers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List signers
         * @description Lists the signers of the configuration file and those created by callers, in order of creation, then by id. The response contains no key.
         */
        readonly get: operations["listSigners"];
        readonly put?: never;
        /**
         * Create a signer
         * @description Lets the service create a key (`generated`), gives it one, or gives it access to a key in a key service. All are stored encrypted, and no
         *     secret is ever shown again; a deployment without `STORAGE_ENCRYPTION_KEY` accepts none (400 `not_supported`). A private key serves an EVM
         *     account and, as an Ed25519 seed, an account on Stellar or Solana, depending on the network of the relayer that names the signer. An `id` that
         *     a signer, or an entry of the configuration file, already has is a conflict.
         *
         *     No one has seen a generated key, and nothing exports it: the answer has its addresses. Its only copy is in the database, sealed with
         *     `STORAGE_ENCRYPTION_KEY`, so back up both.
         *
         *     A key in a key service first signs a text as proof. If that service refuses, the response is 400 `signer_refused` with the reason; if it does
         *     not answer, 400 `invalid_request`; nothing is stored then. Its public key must not change later.
         */
        readonly post: operations["createSigner"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/signers/{signer_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the signer. An unknown id is Not found.
                 * @example hot
                 */
                readonly signer_id: components["parameters"]["SignerId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a signer
         * @description Returns the signer and its type, without the key.
         */
        readonly get: operations["getSigner"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a signer
         * @description Deletes the signer with its key: **without another copy of the key, the account is lost.** A signer that a relayer uses cannot be deleted (400
         *     `in_use`): delete the relayer first. One of the configuration file stays deleted until its entry in the file changes.
         */
        readonly delete: operations["deleteSigner"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/key-creations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List keys created in key services
         * @description Lists the keys that `createKey` created or is to create, newest first. An entry stays when its signer is deleted, because the key is still
         *     there, until `forgetKeyCreation`.
         */
        readonly get: operations["listKeyCreations"];
        readonly put?: never;
        /**
         * Let a key service create a key
         * @description Lets AWS KMS, Google Cloud KMS, Azure Key Vault, the transit engine of Vault, or Turnkey create a key, lets the key sign a text as proof, and
         *     stores a signer for it. The answer has the addresses of the key; no one sees its secret. `docs/signers.md` lists the permissions.
         *
         *     | `type` | `secp256k1`, for EVM | `ed25519`, for Stellar and Solana |
         *     |---|---|---|
         *     | `aws_kms`, `google_cloud_kms`, `turnkey` | yes | yes |
         *     | `azure_key_vault` | yes | no (400 `not_supported`) |
         *     | `vault_transit` | no (400 `not_supported`) | yes |
         *
         *     The intent is stored before the first call, under `signer_id`. **Send the same request again after any failure**: it continues where the last
         *     one stopped, looks for the key by its name or tag first, and never creates a second one. For a minute after a lost answer it only looks. When
         *     the key is usable, it returns the same answer again. If the signer was deleted, it stores it again, with the same key.
         *
         *     - 400 `signer_refused`: the key service refuses; `error` names the missing permission. If that was the first call, nothing was created and
         *       nothing stays stored.
         *     - 500 `signer_unavailable`: the key service does not answer, so there may be a key. The intent stays.
         *     - 201 with the state `requested`: the key service waits, for example for the consent of others in Turnkey; `detail` says for what.
         *     - 409 `already_exists`: the id belongs to a signer, or to a request for another key.
         *
         *     The service never exports, disables or deletes the key. `metadata.logs` says how to forbid its deletion, and how to delete it.
         */
        readonly post: operations["createKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/key-creations/{signer_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the signer. An unknown id is Not found.
                 * @example hot
                 */
                readonly signer_id: components["parameters"]["SignerId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Forget a created key
         * @description Forgets the entry, and nothing else: a signer stays, and a key stays in its key service. The id is free for another key then. While a call
         *     that creates the key can be on its way, the response is 400 `in_use`. Before you forget one that is `requested`, look for its key in the key
         *     service: its name begins with `relayer-` and the signer id.
         */
        readonly delete: operations["forgetKeyCreation"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/networks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List networks
         * @description Lists every network that a relayer can be on: first those of the configuration file, then the other well-known ones.
         */
        readonly get: operations["listNetworks"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/networks/{network_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
                 * @example evm:sepolia
                 */
                readonly network_id: components["parameters"]["NetworkId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a network
         * @description Returns one network with the endpoints that the service uses now, as scheme and host only.
         */
        readonly get: operations["getNetwork"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Change the endpoints of a network
         * @description Replaces all URLs of the network, in every process, for each relayer without custom ones. Send them in full, not masked. The service checks
         *     which chain they serve: if one serves another chain, nothing changes (400 `wrong_chain`); if none answers within a few seconds, they are
         *     accepted, and `metadata.logs` says so.
         *
         *     Only `http://` and `https://` are allowed. Private addresses are refused unless the deployment allows them (`RELAYER_ALLOW_PRIVATE_URLS`), and
         *     cloud metadata services always; names are resolved at each connection, under the same rule.
         *
         *     `private_rpc_urls` (EVM) receive the bytes of private transactions and are never queried, not even for their chain. Relayers with the policy
         *     `private_transactions` use them.
         *
         *     The change survives a restart, until the network's URLs change in the configuration file; ordinary and private endpoints count separately.
         */
        readonly patch: operations["updateNetwork"];
        readonly trace?: never;
    };
    readonly "/api/v1/networks/{network_id}/reset": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
                 * @example evm:sepolia
                 */
                readonly network_id: components["parameters"]["NetworkId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Start over on a test network whose chain was reset
         * @description A restarted local node has a new chain under the same name. The service detects this by the chain's first block, or because an account's next
         *     nonce was already used. It then signs nothing, disables the relayers of the network, and the diagnosis of their open transactions says
         *     `chain_reset`.
         *
         *     This operation ends those transactions as `failed`, because the old chain no longer exists, and reads nonces from the new chain. Final
         *     transactions keep their records; their nonces and hashes can occur again. The relayers are checked immediately, so that they can send again.
         *
         *     Without a proof that the chain was reset, nothing changes (400 `chain_not_reset`). Only the operator's endpoints can prove it: relayers with
         *     `custom_rpc_urls` are not reset, nor is a network whose `rpc_urls` were set over the API. Main networks are refused (`not_supported`). For all
         *     of these, an operator can use `relayer reset` on the command line.
         */
        readonly post: operations["resetNetwork"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/api-keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List API keys
         * @description Lists the API keys in order of creation, then by id, without their secrets. The key of the environment (`root`) is not a record.
         */
        readonly get: operations["listApiKeys"];
        readonly put?: never;
        /**
         * Create an API key
         * @description Creates a key for one application, tenant or person. The response has its secret, **once**: the service stores only a hash.
         *
         *     Every process accepts the key within a second. A key can create keys only within its own rights: no further scope, and no later expiry.
         *     `rules` limit what the key may spend; a key with the scope `api-keys:admin` cannot have any. An unknown network in `networks` or in a limit is
         *     400 `unknown_network`: it would limit nothing.
         */
        readonly post: operations["createApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/current-api-key": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the API key of this request
         * @description Returns the rights of the calling key, so that a program can offer only what is allowed. Every key can call it. It is not part of `/api-keys`,
         *     because the key of the environment (`root`) is not a record. For a person who is signed in, it returns the rights of the session.
         */
        readonly get: operations["getCurrentApiKey"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/roles": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the roles
         * @description Lists the sets of scopes for the usual owners of API keys and for people who sign in. Every key can call it.
         */
        readonly get: operations["listRoles"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sessions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the sessions of people
         * @description Lists who is signed in, the newest session first. An idle session is listed until up to three minutes after its end.
         */
        readonly get: operations["listSessions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/sessions/{session_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the session. An unknown id is Not found.
                 * @example 8f14e45f-ceea-467f-9a0b-3c1d2e4f5a6b
                 */
                readonly session_id: components["parameters"]["SessionId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Sign a person out
         * @description Ends one session. Every process refuses its cookie within a second, and its streams end. The person can sign in again unless the provider
         *     refuses. A key can end only sessions whose scopes it has itself.
         */
        readonly delete: operations["endSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/proposals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List proposals
         * @description Lists the proposed changes by operations whose scope the caller has, newest first. Secrets are hidden.
         */
        readonly get: operations["listProposals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/proposals/{proposal_id}/decision": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the proposal. An unknown id is Not found.
                 * @example 0f9d2b1c-5e7a-4c3d-8b6f-1a2b3c4d5e6f
                 */
                readonly proposal_id: components["parameters"]["ProposalId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Approve or refuse a proposal
         * @description Approves or refuses a change that another person proposed. It needs the scope of the operation. An approved change runs at once; if that
         *     fails, the response is its failure, and the proposal still waits. Repeating a decision is 409 `approval_decided`.
         */
        readonly post: operations["decideProposal"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/current-session": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Sign out
         * @description Ends the session of this request. A request with an API key has none, and is refused with 400.
         */
        readonly delete: operations["endCurrentSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/api-keys/{api_key_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get an API key
         * @description Returns the rights of the key, and the first characters of its secrets, which identify them.
         */
        readonly get: operations["getApiKey"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete an API key
         * @description Every process refuses its secrets within a second. The id stays taken, because records refer to it.
         *     The key of a plugin (`plugin.…`) is refused with 400: it goes with the plugin from the configuration file.
         */
        readonly delete: operations["deleteApiKey"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change an API key
         * @description Changes the given fields; null removes a restriction, the rules or the expiry, and new `rules` replace the current ones as a whole. Every
         *     process applies the change within a second; the key's open streams then end. A key can change only keys that it could have created, before and
         *     after the change.
         */
        readonly patch: operations["updateApiKey"];
        readonly trace?: never;
    };
    readonly "/api/v1/api-keys/{api_key_id}/usage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get what an API key has spent of its limits
         * @description Returns each limit of its `rules` with what is left of it, on each network where it has spent, and what it spent in the last hour, day and 30
         *     days. The maximum cost of open transactions counts as spent until the network has decided. Only keys with limits are counted.
         */
        readonly get: operations["getApiKeyUsage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/api-keys/{api_key_id}/rotate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Give an API key a new secret
         * @description The response has the new secret, once. The previous one is accepted for another `overlap_seconds`, and older ones are not, so a key has at
         *     most two secrets.
         */
        readonly post: operations["rotateApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List plugins
         * @description Lists the plugins of the configuration file, in its order, with their settings and their state in the process that answers.
         */
        readonly get: operations["listPlugins"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins/{plugin_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        /**
         * Get a plugin
         * @description Returns the settings of the plugin, and its state in the process that answers, with its newest log lines.
         */
        readonly get: operations["getPlugin"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Change the settings of a plugin
         * @description Changes the given settings; null removes `config`. Code, environment, rights and limits are only in the configuration file. Changes are
         *     stored, and survive a restart until the entry of the plugin in the file changes: then the file applies again. Every process applies them
         *     within a second.
         */
        readonly patch: operations["updatePlugin"];
        readonly trace?: never;
    };
    readonly "/api/v1/plugins/{plugin_id}/call": {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        /**
         * Call a plugin with GET
         * @description As `callPlugin`, with an empty object as the parameter, if the plugin has the setting `allow_get_invocation`; otherwise 405.
         */
        readonly get: operations["callPluginGet"];
        readonly put?: never;
        /**
         * Call a plugin
         * @description Runs the handler of the plugin and returns its result: `data` of the envelope, or, with the setting `raw_response`, the whole body. If the
         *     body has a field `params` and no `jsonrpc`, that is the parameter of the handler, and otherwise the whole body is. A body has at most 256 KiB,
         *     a result 4 MiB.
         *
         *     The call acts with the API key of the plugin, not with that of the caller. The plugin sees neither `Authorization` nor cookies, and only the
         *     headers that the operator lists. It can fail with any status from 400 to 599. A call that takes longer than `timeout` is 504
         *     `plugin_timeout`; one that finds the plugin starting again or its queue full is 503 `plugin_unavailable`.
         */
        readonly post: operations["callPlugin"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/plugins/{plugin_id}/call/{route}": {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
                /**
                 * @description The rest of the path, which the plugin interprets. Slashes in it may be sent as they are.
                 * @example verify
                 */
                readonly route: components["parameters"]["PluginRoute"];
            };
            readonly cookie?: never;
        };
        /**
         * Call a route of a plugin with GET
         * @description As `callPluginRoute` and `callPluginGet`.
         */
        readonly get: operations["callPluginRouteGet"];
        readonly put?: never;
        /**
         * Call a route of a plugin
         * @description As `callPlugin`. The handler gets the rest of the path as `route`, with a leading slash; it may have several segments.
         */
        readonly post: operations["callPluginRoute"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface webhooks {
    readonly transaction_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A transaction has changed
         * @description The service sends this to the relayer's notification for each event about a transaction: it was accepted, signed, broadcast, replaced, raised,
         *     included or is final. `payload` is the transaction at that time. The tag Deliveries explains order, signatures and retries.
         */
        readonly post: operations["onTransactionUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly transaction_incident: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A transaction needs a person's attention
         * @description The service sends this to the relayer's notification once per incident: `transaction_undecided`, `transaction_stuck` and
         *     `transaction_reorganized`, as `EventType` describes them. `payload` is the transaction at that time; its `status_reason` explains the problem
         *     and the possible remedies.
         */
        readonly post: operations["onTransactionIncident"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly schedule_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A schedule changed
         * @description The service sends this to the relayer's notification when a schedule has changed, and when one of its times was refused or skipped.
         */
        readonly post: operations["onScheduleUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly relayer_state_update: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * The service disabled or enabled a relayer
         * @description The service sends this to the relayer's notification when a health check disables the relayer (`relayer_disabled`), when the reason changes
         *     (`relayer_disabled` again), and when a check enables it (`relayer_enabled`).
         */
        readonly post: operations["onRelayerStateUpdate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly alert: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * An alert began or ended
         * @description The service sends this once when an alert begins and once when it ends, as `AlertKind` describes: to the relayer's notification, to those of
         *     all relayers that use the endpoint, or to the notification that has dead letters. Alerts about an API key's budget are only in the event log.
         */
        readonly post: operations["onAlert"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly notification_test: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A test event
         * @description The service sends this on `sendTestEvent`.
         */
        readonly post: operations["onNotificationTest"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description Up to 100 letters, digits, dots, dashes and underscores, without a leading dot. Ids assigned by the service are UUIDs. */
        readonly Id: string;
        /**
         * Format: u128
         * @description An unsigned integer of up to 128 bits, as a JSON integer, as a decimal string, or as `0x` and up to 32 hexadecimal digits, as Ethereum's own
         *     tools write quantities.
         */
        readonly U128: bigint;
        /**
         * Format: int64
         * @description A non-negative signed 64-bit integer, as a JSON integer or as a decimal string.
         */
        readonly Int64: bigint;
        /**
         * Format: int64
         * @description A non-negative signed 64-bit integer, as an exact JSON integer.
         */
        readonly Quantity: bigint;
        /** @description A non-negative integer in decimal digits. */
        readonly DecimalString: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC, with milliseconds.
         */
        readonly Timestamp: string;
        /**
         * @description 20 bytes in hexadecimal. Requests write it in one letter case, or with the checksum of EIP-55, or of EIP-1191 with the network's chain id:
         *     letters of both cases that fit neither are refused with 400, because they are almost always a typing error. Responses have the EIP-55
         *     checksum, unless a field says otherwise.
         */
        readonly EvmAddress: string;
        /** @description 32 bytes in hexadecimal with `0x`. */
        readonly EvmHash: string;
        /** @description 32 bytes in hexadecimal, without `0x`. */
        readonly StellarHash: string;
        /** @description 64 bytes in base58. */
        readonly SolanaSignature: string;
        /** @description Bytes in hexadecimal; `0x` means none. */
        readonly HexData: string;
        /**
         * @description The family of networks. It determines the shape of transaction requests.
         * @enum {string}
         */
        readonly NetworkType: "evm" | "stellar" | "solana";
        /**
         * @description The urgency of the transaction, from the most to the least urgent: `fastest`, `fast`, `average`, `safeLow`. It determines the first price and
         *     the time after which the service can raise it automatically.
         * @enum {string}
         */
        readonly Speed: "fastest" | "fast" | "average" | "safeLow";
        /**
         * @description - `pending`: accepted and stored; not signed yet. With `awaits_approval`, it waits for a decision, with
         *       `awaits_transaction` for another one, and before `valid_from` for its time.
         *     - `sent`: signed and stored; on its way to a node.
         *     - `submitted`: a node accepted it; waiting for a block.
         *     - `mined`: in a block that is not deep enough yet. With `no_op`, the block includes only a no-op in its place.
         *     - `confirmed`: in a block that is deep enough. Final.
         *     - `failed`: included but reverted, or it can never be included; see `status_reason`. Final.
         *     - `canceled`: canceled before it was broadcast, or a no-op was included in its place. Final.
         *     - `expired`: `valid_until` passed, and it was not and cannot be included any more. Final.
         * @enum {string}
         */
        readonly TransactionStatus: "pending" | "sent" | "submitted" | "mined" | "confirmed" | "failed" | "canceled" | "expired";
        /**
         * @description The reason of a failure, for programs. Codes may be added; treat an unknown one like its HTTP status.
         *
         *     | Code | Meaning |
         *     |---|---|
         *     | `unauthorized` | 401. No credential, or an invalid one |
         *     | `insufficient_scope` | 403. The API key may not do this; `error` names the scope. 401 if an operation has no 403 |
         *     | `rate_limited` | 429. Wait as `Retry-After` says |
         *     | `not_found` | 404. The path names nothing |
         *     | `relayer_not_found` | 404. No relayer has this id |
         *     | `transaction_not_found` | 404. This relayer has no such transaction |
         *     | `approval_not_found` | 404. No rule required an approval of this transaction |
         *     | `approval_decided` | 409. The transaction no longer waits for an approval; `error` says what happened |
         *     | `own_approval` | 403. The API key or person sent this transaction, so another one must decide |
         *     | `notification_not_found` | 404. No notification has this id |
         *     | `abi_not_found` | 404. The relayer has no ABI for this contract |
         *     | `delivery_not_found` | 404. This notification has no such delivery |
         *     | `signer_not_found` | 404. No signer has this id |
         *     | `signer_refused` | The key service refuses to sign; `error` names the key and the remedy |
         *     | `signer_unavailable` | 500. The key service does not answer; nothing was signed, so you can retry |
         *     | `api_key_not_found` | 404. No API key has this id |
         *     | `second_person_required` | 403. The change waits for another person, or only people may propose it; `error` says which |
         *     | `schedule_not_found` | 404. This relayer has no such schedule |
         *     | `proposal_not_found` | 404. No proposal has this id |
         *     | `session_not_found` | 404. No session has this id, or it has ended |
         *     | `network_not_found` | 404. There is no network of this type and name |
         *     | `plugin_not_found` | 404. No plugin has this id |
         *     | `plugin_failed` | 500. The plugin failed; or the status that it chose, with its own code in `data` |
         *     | `plugin_timeout` | 504. The plugin did not answer in time; it may have done something |
         *     | `plugin_unavailable` | 503. A plugin does not answer; nothing was done, try again. An operation without a 503 answers 500 |
         *     | `already_exists` | 409. The id is taken, by a record or by an entry of the configuration file |
         *     | `in_use` | Relayers refer to it; `error` names them |
         *     | `wrong_chain` | The endpoints serve another chain than the network's |
         *     | `chain_id_mismatch` | The typed data is for another chain than the relayer's, and `typed_data_chain_ids` or a limit of the key refuses it |
         *     | `method_not_allowed` | 405. The path exists, the method does not; `Allow` lists those that do |
         *     | `internal_error` | 500. An unexpected fault of the service |
         *     | `request_timeout` | 500. Not finished in time; it may still take effect, so check before repeating |
         *     | `database_unavailable` | 503. The database of the service cannot be reached; it may still take effect, so check before repeating |
         *     | `invalid_request` | A field, a parameter or a combination of fields is not as described here; `error` names it |
         *     | `invalid_json` | The body is not well-formed UTF-8 JSON |
         *     | `unsupported_content_type` | The body is not declared as `application/json`, or it is compressed |
         *     | `body_too_large` | The body has more bytes than the deployment allows |
         *     | `json_too_deep` | The JSON has more than 32 levels |
         *     | `json_too_many_values` | The JSON has more than 20000 values |
         *     | `headers_too_large` | The request line and the headers have more bytes than the deployment allows |
         *     | `request_too_slow` | The request did not arrive completely in time |
         *     | `wrong_network_type` | The body is a request for another type of network than the relayer's |
         *     | `relayer_paused` | The relayer is paused |
         *     | `relayer_disabled` | The service has disabled the relayer; its `disabled_reason` says why |
         *     | `receiver_not_whitelisted` | `to` is not among the `whitelist_receivers` of the relayer |
         *     | `transaction_not_undecided` | The transaction does not wait for a decision: the chain decides, or its relayer can sign it |
         *     | `transaction_not_included` | No block includes the transaction, so it has no receipt |
         *     | `transaction_not_replaceable` | The status of the transaction, or its wait for an approval, does not allow replacing or canceling it |
         *     | `replacement_underpriced` | No node would accept the replacement at this price; `error` names the minimum |
         *     | `gas_price_above_cap` | The price is above the `gas_price_cap` of the relayer |
         *     | `fee_above_cap` | The fee is above the policy: `tx_fee_cap`, on Stellar `max_fee`, on Solana `max_allowed_fee_lamports` |
         *     | `policy_beyond_ceiling` | A policy would allow more than the operator does; `error` names it and the ceiling |
         *     | `report_too_large` | The report would have more than 50000 transactions; request shorter periods |
         *     | `rule_violated` | A rule for spending or a plugin refuses; `error` names the rule, whose it is, and what is left |
         *     | `payment_required` | Users pay this relayer: what others sign must be as `buildSponsoredTransaction` returned it, and in time |
         *     | `price_unavailable` | There is no price for the token now, or its sources disagree |
         *     | `policy_violation` | A policy forbids an authorization list; on Solana a program, an account, or the number of signatures or bytes |
         *     | `fee_payer_at_risk` | Solana: the transaction could take more than its fee from the relayer |
         *     | `account_not_found` | The account does not exist on its network yet; fund it first |
         *     | `already_accepted` | This signed transaction was accepted before |
         *     | `chain_not_reset` | Nothing proves that the chain of the network was reset |
         *     | `unknown_network` | There is no network of this type and name: a relayer cannot be on it, and a key cannot be limited to it |
         *     | `account_taken` | Another relayer operates this account on this chain |
         *     | `relayer_has_transactions` | The relayer has transactions that are not final; `error` says how many, or which to decide first |
         *     | `idempotency_key_reused` | 409. The `Idempotency-Key` belongs to a request with another body |
         *     | `gas_limit_required` | The relayer does not estimate gas; send `gas_limit` |
         *     | `gas_limit_too_low` | Less gas than the transaction needs; `error` has the least |
         *     | `gas_limit_too_high` | More gas than the network allows a transaction, or than a block can hold; `error` has the most |
         *     | `insufficient_balance` | The balance does not cover value, fees (OP stack: all of them), what is in flight and `min_balance` |
         *     | `execution_reverted` | The call would revert; `error` has the decoded reason |
         *     | `valid_until_in_past` | `valid_until` has already passed |
         *     | `not_supported` | The network or the relayer cannot do this |
         *     | `network_unavailable` | 500. No node of the network answers; nothing was changed, so you can retry |
         * @enum {string}
         */
        readonly ErrorCode: "unauthorized" | "insufficient_scope" | "rate_limited" | "not_found" | "relayer_not_found" | "transaction_not_found" | "approval_not_found" | "notification_not_found" | "abi_not_found" | "delivery_not_found" | "signer_not_found" | "signer_refused" | "signer_unavailable" | "api_key_not_found" | "session_not_found" | "second_person_required" | "proposal_not_found" | "schedule_not_found" | "network_not_found" | "already_exists" | "in_use" | "wrong_chain" | "chain_id_mismatch" | "method_not_allowed" | "internal_error" | "request_timeout" | "database_unavailable" | "invalid_request" | "invalid_json" | "unsupported_content_type" | "body_too_large" | "json_too_deep" | "json_too_many_values" | "headers_too_large" | "request_too_slow" | "wrong_network_type" | "relayer_paused" | "relayer_disabled" | "receiver_not_whitelisted" | "transaction_not_undecided" | "transaction_not_included" | "transaction_not_replaceable" | "replacement_underpriced" | "gas_price_above_cap" | "fee_above_cap" | "policy_beyond_ceiling" | "report_too_large" | "rule_violated" | "approval_decided" | "own_approval" | "payment_required" | "price_unavailable" | "policy_violation" | "fee_payer_at_risk" | "account_not_found" | "already_accepted" | "chain_not_reset" | "unknown_network" | "account_taken" | "relayer_has_transactions" | "idempotency_key_reused" | "gas_limit_required" | "gas_limit_too_low" | "gas_limit_too_high" | "insufficient_balance" | "execution_reverted" | "valid_until_in_past" | "not_supported" | "network_unavailable" | "plugin_not_found" | "plugin_failed" | "plugin_timeout" | "plugin_unavailable";
        /** @description The body of every failure. */
        readonly Failure: {
            /** @constant */
            readonly success: false;
            /** @description Always null. */
            readonly data: null;
            /** @description The text that belongs to the HTTP status. */
            readonly message: string;
            /** @description A sentence for people that names the field and what was expected. Not stable; do not parse it. */
            readonly error: string;
            readonly code: components["schemas"]["ErrorCode"];
        };
        readonly BadRequestFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Bad Request";
        };
        readonly UnauthorizedFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Unauthorized";
            /** @constant */
            readonly code?: "unauthorized";
        };
        readonly UnauthorizedOrInsufficientScopeFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Unauthorized";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "unauthorized" | "insufficient_scope";
        };
        readonly ForbiddenFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Forbidden";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "insufficient_scope" | "second_person_required";
        };
        readonly ForbiddenToDecideFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Forbidden";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "insufficient_scope" | "own_approval" | "second_person_required";
        };
        readonly AlreadyDecidedFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Conflict";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "approval_decided";
        };
        readonly NotFoundFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Not found";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "not_found" | "relayer_not_found" | "transaction_not_found" | "approval_not_found" | "abi_not_found" | "notification_not_found" | "delivery_not_found" | "signer_not_found" | "network_not_found" | "api_key_not_found" | "plugin_not_found" | "session_not_found" | "proposal_not_found" | "schedule_not_found";
        };
        readonly ConflictFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Conflict";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "idempotency_key_reused" | "already_exists";
        };
        readonly TooManyRequestsFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Too Many Requests";
            /** @constant */
            readonly code?: "rate_limited";
        };
        readonly InternalServerErrorFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Internal Server Error";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "internal_error" | "request_timeout" | "network_unavailable" | "signer_unavailable" | "database_unavailable" | "plugin_unavailable";
        };
        readonly ServiceUnavailableFailure: components["schemas"]["Failure"] & {
            /** @constant */
            readonly message?: "Service Unavailable";
            /**
             * @description The reason, for programs.
             * @enum {string}
             */
            readonly code?: "database_unavailable" | "plugin_unavailable";
        };
        /** @description Explains what the service did for the request if that is not obvious. */
        readonly Metadata: {
            /** @description Sentences for people, in order. */
            readonly logs: readonly {
                /**
                 * @description The level of the sentence.
                 * @enum {string}
                 */
                readonly level: "log";
                /** @description The sentence. Not stable; do not parse it. */
                readonly message: string;
            }[];
            /** @description Reserved; always empty. */
            readonly traces: readonly unknown[];
        };
        /** @description The page that was served, which may differ from the requested one. */
        readonly Pagination: {
            /** @description The page that was served. */
            readonly current_page: number;
            /** @description The page size that was applied. */
            readonly per_page: number;
            /** @description The number of items on all pages together. */
            readonly total_items: number;
        };
        /** @description How the list continues. */
        readonly CursorPagination: {
            /** @description The `cursor` of the request for the next part; null when this is the end. */
            readonly next_cursor: string | null;
        };
        /** @description Part of the shape of every response. Never sent with a success. */
        readonly EnvelopeError: string;
        readonly RelayerListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Relayer"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NotificationListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Notification"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly PluginListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Plugin"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly PluginResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Plugin"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * @description The result of a plugin. Without `raw_response` it is `{ success: true, data, metadata? }`; `metadata` has `logs` with the setting `emit_logs`,
         *     and `traces`, the calls of the plugin to this API, with `emit_traces`. With `raw_response` it is any JSON. Integers beyond 2^53 are decimal
         *     strings in both.
         */
        readonly PluginResult: unknown;
        /** @description The parameter of the handler; any JSON. A field `params` of an object is taken out of it. */
        readonly PluginParams: unknown;
        /** @description The failure of a call. With `raw_response`, a failure of the plugin itself has no envelope. */
        readonly PluginFailure: components["schemas"]["PluginEnvelopeFailure"] | components["schemas"]["PluginRawFailure"];
        /** @description The failure of a plugin with the setting `raw_response`. */
        readonly PluginRawFailure: {
            /** @description A word of the plugin. */
            readonly code: string | null;
            /** @description Any JSON of the plugin. */
            readonly details: unknown;
        };
        /** @description The failure of a call. */
        readonly PluginEnvelopeFailure: {
            /** @constant */
            readonly success: false;
            /** @description The code and the details that the plugin gave; null if the service refused the call. */
            readonly data: {
                /** @description A word of the plugin. */
                readonly code?: string | null;
                /** @description Any JSON of the plugin. */
                readonly details?: unknown;
            } | null;
            /** @description The text that belongs to the HTTP status. */
            readonly message: string;
            /** @description A sentence of the plugin or the service. */
            readonly error: string;
            readonly code: components["schemas"]["ErrorCode"];
            /** @description As for a success. */
            readonly metadata?: Record<string, never>;
        };
        /** @description A plugin with its settings. Those of `UpdatePluginRequest` are as they apply now; the others are in the configuration file. */
        readonly Plugin: {
            readonly id: components["schemas"]["Id"];
            /** @description The file of the plugin, as the configuration names it. */
            readonly path: string;
            readonly timeout: components["schemas"]["PluginTimeout"];
            /** @description Results have what the handler logged. */
            readonly emit_logs: boolean;
            /** @description Results have the calls of the handler to this API. */
            readonly emit_traces: boolean;
            /** @description The result is the whole body of the response. */
            readonly raw_response: boolean;
            /** @description It can be called with GET. */
            readonly allow_get_invocation: boolean;
            /** @description The log of the service has what the plugin logs. */
            readonly forward_logs: boolean;
            readonly config?: components["schemas"]["PluginSettings"];
            /** @description The rights of its API key. */
            readonly scopes: readonly components["schemas"]["Scope"][];
            readonly relayers?: components["schemas"]["RelayerPatterns"];
            readonly rules?: components["schemas"]["SpendingRules"];
            /** @description The limit of its heap in MiB. */
            readonly memory_mb: number;
            /** @description The short path of the plugin: with `/x402`, `/x402/settle` is `/api/v1/plugins/{plugin_id}/call/settle`. Absent if it has none. */
            readonly mount?: string;
            /** @description Callers need no API key at the short path. A key that they send counts, with its scopes. */
            readonly open_mount?: boolean;
            /** @description The WebSockets at the short path. Absent if it accepts none. */
            readonly sockets?: {
                /** @description The rest of the path after that of `mount`. */
                readonly path: string;
                /** @description The query parameter that may carry the API key; absent if only the header counts. */
                readonly key_parameter?: string;
                /** @description The most open ones. */
                readonly max: number;
                /** @description The most open ones of one API key, or of one address without a key. */
                readonly max_per_caller: number;
            };
            readonly hooks?: components["schemas"]["PluginHooks"];
            readonly state: components["schemas"]["PluginState"];
        };
        /**
         * @description The functions of the plugin that the service calls by itself, and their state, which all processes share; `docs/plugin-hooks.md` explains
         *     them.
         */
        readonly PluginHooks: {
            /** @description It is asked about each request to send, to replace or to sign, before it is accepted. */
            readonly before_send?: {
                /** @description Seconds that it has for an answer. */
                readonly timeout: number;
                /**
                 * @description The decision if it does not answer.
                 * @enum {string}
                 */
                readonly on_failure: "refuse" | "allow";
            };
            /** @description It is called with each event, at least once, and in order for each transaction. */
            readonly on_event?: {
                /** @description The types of its events; absent for all. */
                readonly types?: readonly components["schemas"]["EventType"][];
                /** @description Seconds that a call has. */
                readonly timeout: number;
                /** @description Events that failed and are tried again, and those behind them. */
                readonly waiting: number;
                /** @description The first try of the oldest event that fails. */
                readonly failing_since?: components["schemas"]["Timestamp"];
            };
            /** @description The times at which it is called. */
            readonly schedule?: readonly {
                /** @description The name that the function gets. */
                readonly name: string;
                /** @description Five fields; or six that begin with the seconds. */
                readonly cron: string;
                /** @description The time zone of the expression. */
                readonly timezone: string;
                /** @description Seconds that a run has. */
                readonly timeout: number;
                /** @description The next time. */
                readonly next_at?: components["schemas"]["Timestamp"];
            }[];
        };
        /** @description The longest time of a call in seconds. */
        readonly PluginTimeout: number;
        /** @description An object that the handler gets as `config`; at most 64 KiB of JSON. */
        readonly PluginSettings: {
            readonly [key: string]: unknown;
        };
        /** @description The plugin in the process that answers. */
        readonly PluginState: {
            /**
             * @description `starting` · `ready` · `waiting`: its process ended, and starts again after a growing delay; calls are 503 until then.
             * @enum {string}
             */
            readonly status: "starting" | "ready" | "waiting";
            /** @description How often its process has ended since the start of the service. */
            readonly restarts: number;
            /** @description Calls that it works on. */
            readonly running: number;
            /** @description Calls that wait. */
            readonly queued: number;
            /** @description Open WebSockets; absent if the plugin has none. */
            readonly sockets?: number;
            /** @description Calls since the start. */
            readonly calls: string;
            /** @description Calls that did not succeed, since the start. */
            readonly failures: string;
            /** @description The newest failure that the plugin did not choose itself. */
            readonly last_failure?: {
                readonly at: components["schemas"]["Timestamp"];
                /** @description The reason. */
                readonly message: string;
            };
            /** @description The newest log lines, oldest first. `getPlugin` alone returns them. */
            readonly logs?: readonly {
                readonly at: components["schemas"]["Timestamp"];
                /**
                 * @description The level.
                 * @enum {string}
                 */
                readonly level: "debug" | "log" | "info" | "warn" | "error";
                /** @description The line. */
                readonly message: string;
            }[];
        };
        /** @description The settings to change. */
        readonly UpdatePluginRequest: {
            readonly timeout?: components["schemas"]["PluginTimeout"];
            /** @description Results have what the handler logged. */
            readonly emit_logs?: boolean;
            /** @description Results have the calls of the handler to this API. */
            readonly emit_traces?: boolean;
            /** @description The result is the whole body of the response. */
            readonly raw_response?: boolean;
            /** @description It can be called with GET. */
            readonly allow_get_invocation?: boolean;
            /** @description The log of the service has what the plugin logs. */
            readonly forward_logs?: boolean;
            /** @description An object that the handler gets as `config`; null removes it. */
            readonly config?: {
                readonly [key: string]: unknown;
            } | null;
        };
        readonly ApiKeyListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["ApiKey"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["ApiKey"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly IssuedApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["IssuedApiKey"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly SignerListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Signer"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly SignerResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Signer"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NetworkListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Network"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NetworkResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Network"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NetworkResetResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["NetworkReset"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The result of starting over on a network. */
        readonly NetworkReset: {
            /** @description The network: its type and its name. */
            readonly network_id: string;
            /** @description The relayers on the network. */
            readonly relayer_ids: readonly string[];
            /** @description The number of transactions that ended as `failed`. */
            readonly ended_transactions: number;
        };
        readonly DeletionResponse: {
            /** @constant */
            readonly success: true;
            /** @description A sentence that says so. */
            readonly data: string;
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TransactionListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Transaction"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TransactionSearchResponse: {
            /** @constant */
            readonly success: true;
            /** @description The transactions that were found. */
            readonly data: readonly components["schemas"]["Transaction"][];
            readonly pagination: components["schemas"]["CursorPagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TransactionBatchResponse: {
            /** @constant */
            readonly success: true;
            /** @description The transactions in the order of the items. */
            readonly data: readonly components["schemas"]["TransactionWithAttempts"][];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TransactionResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TransactionWithAttempts"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TransactionOrDryRunResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TransactionWithAttempts"] | components["schemas"]["DryRun"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ApprovalListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Approval"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ApprovalResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Approval"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * @description - `waiting`: not decided yet. Also again after `approved`, if the approved version expired and only one endpoint, or an operator
         *       (`decideTransaction`), says that it was not included.
         *     - `approved`: it was sent like any other transaction; see its status.
         *     - `refused`: it ended as `canceled`.
         *     - `expired`: not decided in time; it ended as `expired`.
         *     - `withdrawn`: it ended before a decision: it was canceled, or its network was reset.
         * @enum {string}
         */
        readonly ApprovalState: "waiting" | "approved" | "refused" | "expired" | "withdrawn";
        /** @description Why a transaction waits for an approval, and who decided. */
        readonly Approval: {
            /** @description The transaction. `getTransactionById` shows its content. */
            readonly transaction_id: components["schemas"]["Id"];
            /** @description Its relayer. */
            readonly relayer_id: components["schemas"]["Id"];
            readonly state: components["schemas"]["ApprovalState"];
            /** @description The id of the API key that sent it, which cannot decide; `root` for that of the environment, `service` for a top-up. */
            readonly requested_by: string;
            /** @description The sender, if a person sent it. */
            readonly requested_by_person?: components["schemas"]["Person"];
            /** @description Each rule that requires the approval, in a sentence. */
            readonly reasons: readonly string[];
            /** @description When it began to wait. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When it ends without a decision. */
            readonly expires_at: components["schemas"]["Timestamp"];
            /** @description The id of the API key or person that decided. */
            readonly decided_by?: string;
            /** @description Who decided, if a person did. */
            readonly decided_by_person?: components["schemas"]["Person"];
            /** @description When it was decided. */
            readonly decided_at?: components["schemas"]["Timestamp"];
            /** @description The comment with the decision. */
            readonly decision_reason?: string;
            /** @description What approving it now would do. Present with `simulate`, while it waits. */
            readonly dry_run?: components["schemas"]["DryRun"];
        };
        /** @description A decision about a transaction that waits for an approval. */
        readonly ApprovalDecision: {
            /**
             * @description `approve` lets the service send it; `refuse` ends it as `canceled`.
             * @enum {string}
             */
            readonly decision: "approve" | "refuse";
            /** @description A comment for the sender and the record, without control characters. */
            readonly reason?: string;
        };
        /**
         * Dry run
         * @description What would happen to the request now. Nothing was stored, signed, counted or sent. Amounts are decimal digits in `unit`; values that could not
         *     be prepared are absent.
         */
        readonly DryRun: {
            /** @constant */
            readonly dry_run: true;
            /** @description True when the request would be accepted. */
            readonly accepted: boolean;
            /**
             * @description Present when it would be accepted and then wait for an approval; `rules` says why.
             * @constant
             */
            readonly awaits_approval?: true;
            /** @description Why it would be refused. */
            readonly code?: components["schemas"]["ErrorCode"];
            /** @description The reason in a sentence. */
            readonly error?: string;
            /**
             * @description `succeeded`: a node prepared and simulated it, as far as its network and request need that · `refused`: `error` says why, with the decoded
             *     revert reason · `unknown`: no node answered, and the service would simulate later · `skipped`: no node was queried, because a rule or
             *     the policy `max_queue_seconds` refuses it, or because its `Idempotency-Key` was used before.
             * @enum {string}
             */
            readonly simulation: "succeeded" | "refused" | "unknown" | "skipped";
            readonly unit: components["schemas"]["RelayerBalance"]["unit"];
            /** @description The amount of native currency that it moves. */
            readonly value?: components["schemas"]["DecimalString"];
            /** @description The maximum fee. */
            readonly max_fee?: components["schemas"]["DecimalString"];
            /** @description The amount that would be reserved for it. */
            readonly max_cost?: components["schemas"]["DecimalString"];
            /** @description EVM. */
            readonly gas_limit?: components["schemas"]["Quantity"];
            /** @description EVM with legacy prices. */
            readonly gas_price?: components["schemas"]["DecimalString"];
            /** @description EVM with EIP-1559. */
            readonly max_fee_per_gas?: components["schemas"]["DecimalString"];
            /** @description EVM with EIP-1559. */
            readonly max_priority_fee_per_gas?: components["schemas"]["DecimalString"];
            /** @description What the account can spend. */
            readonly balance?: components["schemas"]["DecimalString"];
            /** @description The amount reserved for other transactions in flight. */
            readonly reserved?: components["schemas"]["DecimalString"];
            /** @description The verdict of each rule of the relayer and of the API key, and of each plugin that was asked. */
            readonly rules: readonly components["schemas"]["RuleResult"][];
        };
        /** @description The verdict of one rule. */
        readonly RuleResult: {
            /** @description Whose rule it is: a relayer, an API key or a plugin. */
            readonly spender: string;
            /** @description Its path in the rules. */
            readonly rule: string;
            /** @description True when the rule allows the request. */
            readonly allowed: boolean;
            /**
             * @description Present when the rule allows the request only with an approval.
             * @constant
             */
            readonly requires_approval?: true;
            /** @description A sentence with the rule and what is left. */
            readonly detail: string;
        };
        readonly PendingCancellationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PendingCancellation"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly SignResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Signature"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description For people. Does not begin with a space and has no control characters. */
        readonly RelayerName: string;
        /** @description The name of a JSON-RPC method. */
        readonly RpcMethodName: string;
        /**
         * @description Endpoints to use instead of the network's, if not null or empty. They must not lead to private networks unless the deployment allows it;
         *     link-local addresses, where clouds serve their metadata, are never allowed. Endpoints report what was paid, so a key that sets them also needs
         *     the scope `networks:admin`, and must have no rules: otherwise 403 `insufficient_scope`.
         */
        readonly CustomRpcUrls: readonly components["schemas"]["CustomRpcUrl"][] | null;
        /** @description One endpoint. */
        readonly CustomRpcUrl: {
            /** @description The full URL. Only its scheme and host are ever shown again. */
            readonly url: string;
            /** @description The share of requests: the endpoint's weight divided by the sum of all. 0 is never used; at least one needs more. 100 by default. */
            readonly weight?: number;
        };
        /**
         * @description The rules of the relayer. A rule that is not set is omitted. Amounts are exact JSON integers: read them with a parser that keeps integers
         *     above 2^53.
         */
        readonly EvmPolicies: {
            /** @description False forces legacy prices. True needs a network with EIP-1559. If absent, the features of the network decide. */
            readonly eip1559_pricing?: boolean;
            /** @description False if every request must bring its `gas_limit`. True if absent. */
            readonly gas_limit_estimation?: boolean;
            /** @description True allows requests with an `authorization_list` (EIP-7702). False if absent. */
            readonly allow_authorization_list?: boolean;
            /**
             * @description True lets the API keys of waiting transactions take turns: the next one is of the key with the fewest in flight, so that no key starves
             *     another. The order of acceptance within a key stays. False if absent: the order of acceptance of all.
             */
            readonly fair_share?: boolean;
            /**
             * @description A new transaction is refused with 429 `rate_limited` and `Retry-After` if it would wait longer than this for its turn: if more wait before
             *     it than blocks can take in this time, or the oldest has waited for longer. With `fair_share`, only those of its key count. A batch that
             *     is too large for this time is refused with `invalid_request`. No limit if absent.
             */
            readonly max_queue_seconds?: number;
            /**
             * @description True if other programs send from the account as well. If false, a nonce that the chain has used and the records do not explain, or on
             *     Solana a transaction that only the account has signed, stops the relayer (`UnexplainedNonces`, `UnexplainedTransactions`) until an
             *     operator accepts it (`acceptNonces`): the database may have been restored from a backup, and what is pending may already be paid. False if
             *     absent.
             */
            readonly shared_account?: boolean;
            /** @description The most that one unit of gas may cost, in wei. No cap if absent. */
            readonly gas_price_cap?: components["schemas"]["ExactU128"];
            /**
             * @description The most that one transaction may cost in fees, in wei: its gas limit at its highest price, and the fees of a rollup. Default: that of
             *     the network. The service lowers its offer to it while the next block accepts that, and otherwise waits.
             */
            readonly tx_fee_cap?: components["schemas"]["ExactU128"];
            /**
             * @description The service never raises a fee on its own above this many times the current market: neither above what the next block would charge, nor
             *     above the most that any block could. The transaction then waits until the market rises, a block includes it, or the caller replaces it.
             *     Prices named by a request, replacements, and the no-ops that use up a nonce are not limited. 5 if absent.
             */
            readonly fee_limit_multiplier?: number;
            /**
             * @description The balance in wei that must remain when everything in flight is paid; the service disables a relayer whose account can spend less. 1 if
             *     absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["ExactU128"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["ExactU128"];
            /**
             * @description True sends the bytes of every transaction, including replacements, cancellations and no-ops, only to the `private_rpc_urls` of the
             *     network, which must have some. Transactions accepted while it was true stay private when it becomes false. False if absent.
             */
            readonly private_transactions?: boolean;
            /**
             * @description A private transaction that is not included this many blocks after its first private broadcast is broadcast to the ordinary endpoints as
             *     well (`made_public_at`). Never if absent.
             */
            readonly private_fallback_blocks?: number;
            /**
             * @description The only addresses that may receive, besides the zero address and the relayer's own. If absent, any address may receive; if empty, none
             *     may. Responses write them in lower case.
             */
            readonly whitelist_receivers?: readonly components["schemas"]["EvmAddress"][];
            /** @description True lets the relayer answer wallet methods, such as `eth_sendTransaction` and `personal_sign`, in `callRpc`. False if absent. */
            readonly wallet_rpc?: boolean;
            /**
             * @description Chain ids, in decimal digits, for which `signTypedData` signs besides that of the relayer's network; `*` means any, including data without
             *     a chain if the account has relayers on several networks. None if absent. The setting in the configuration file, even if absent, can only
             *     be tightened, unless its entry sets `api_may_relax`.
             * @example [
             *       "1",
             *       "137"
             *     ]
             */
            readonly typed_data_chain_ids?: readonly string[];
            /**
             * @description Limits on what the relayer may spend, whichever key sends. Those of the configuration file cannot be changed, unless its entry sets
             *     `api_may_relax`. A change replaces them as a whole.
             */
            readonly rules?: components["schemas"]["SpendingRules"];
            /**
             * @description Automatic top-up: which relayer refills this account, at what balance, and up to what amount. Off if absent. The setting in the
             *     configuration file can only be tightened, unless its entry sets `api_may_relax`.
             */
            readonly top_up?: components["schemas"]["TopUp"];
            /**
             * @description The only methods that `callRpc` forwards. If absent, those that read, price and simulate; if empty, none. The API accepts only methods
             *     that read, and those that the operator lists for the network.
             */
            readonly allowed_rpc_methods?: readonly components["schemas"]["RpcMethodName"][];
        };
        /**
         * @description The rules of the relayer. A rule that is not set is omitted. Amounts are exact JSON integers: read them with a parser that keeps integers
         *     above 2^53.
         */
        readonly StellarPolicies: {
            /**
             * @description The balance in stroops that must remain when everything in flight is paid; the service disables a relayer whose account can spend less.
             *     1000000 if absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["ExactInt64"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["ExactInt64"];
            /** @description The most that one transaction may cost, in stroops, regardless of its request. 1000000 if absent. */
            readonly max_fee?: components["schemas"]["ExactInt64"];
            /** @description The lifetime of a signed version, in seconds; then the service signs a new one. 120 if absent. */
            readonly timeout_seconds?: number;
            readonly fair_share?: components["schemas"]["EvmPolicies"]["fair_share"];
            readonly max_queue_seconds?: components["schemas"]["EvmPolicies"]["max_queue_seconds"];
            readonly shared_account?: components["schemas"]["EvmPolicies"]["shared_account"];
            readonly fee_payment_strategy?: components["schemas"]["FeePaymentStrategy"];
            /** @description The tokens in which users can pay, as configured; amounts are exact JSON integers. */
            readonly allowed_tokens?: readonly components["schemas"]["AllowedToken"][];
            /** @description The surcharge on the fee that users pay. */
            readonly fee_margin_percentage?: components["schemas"]["Percentage"];
            /** @description The surcharge for the conversion into a token. 1 if absent. */
            readonly slippage_percentage?: number;
            /** @description The FeeForwarder contract through which smart contract calls pay. If absent, none is sponsored. */
            readonly fee_forwarder?: string;
            readonly rules?: components["schemas"]["EvmPolicies"]["rules"];
            readonly top_up?: components["schemas"]["EvmPolicies"]["top_up"];
            readonly allowed_rpc_methods?: components["schemas"]["EvmPolicies"]["allowed_rpc_methods"];
        };
        /**
         * @description The rules of the relayer. A rule that is not set is omitted. Amounts are exact JSON integers: read them with a parser that keeps integers
         *     above 2^53.
         */
        readonly SolanaPolicies: {
            /**
             * @description The balance in lamports that must remain when everything in flight is paid; the service disables a relayer whose account can spend less.
             *     10000000 if absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["ExactInt64"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["ExactInt64"];
            /** @description The most that one transaction may cost in fees, in lamports. 1000000 if absent. */
            readonly max_allowed_fee_lamports?: components["schemas"]["ExactInt64"];
            /** @description The only programs that instructions may call, besides the compute budget program. Any program if absent. */
            readonly allowed_programs?: readonly components["schemas"]["SolanaPublicKey"][];
            /** @description The only accounts that a transaction may name, besides the relayer and the programs that it calls. Any account if absent. */
            readonly allowed_accounts?: readonly components["schemas"]["SolanaPublicKey"][];
            /** @description Accounts that a transaction must not name. Not together with `allowed_accounts`. */
            readonly disallowed_accounts?: readonly components["schemas"]["SolanaPublicKey"][];
            /** @description The most signatures of one transaction. No limit if absent. */
            readonly max_signatures?: number;
            /** @description The most bytes of one transaction. 1232 if absent. */
            readonly max_tx_data_size?: number;
            /**
             * @description Which transactions may use the relayer as more than their fee payer. `own`, the default: those that no other account signs. `always`: all.
             *     `never`: none. `token_accounts`: none, but it may pay the rent of associated token accounts that they open, which quotes contain.
             * @enum {string}
             */
            readonly fee_payer_spending?: "own" | "always" | "never" | "token_accounts";
            readonly fair_share?: components["schemas"]["EvmPolicies"]["fair_share"];
            readonly max_queue_seconds?: components["schemas"]["EvmPolicies"]["max_queue_seconds"];
            readonly shared_account?: components["schemas"]["EvmPolicies"]["shared_account"];
            readonly fee_payment_strategy?: components["schemas"]["FeePaymentStrategy"];
            /** @description The tokens in which users can pay, as configured; amounts are exact JSON integers. */
            readonly allowed_tokens?: readonly components["schemas"]["AllowedToken"][];
            /** @description The surcharge on the fee that users pay. */
            readonly fee_margin_percentage?: components["schemas"]["Percentage"];
            readonly rules?: components["schemas"]["EvmPolicies"]["rules"];
            readonly top_up?: components["schemas"]["EvmPolicies"]["top_up"];
            readonly allowed_rpc_methods?: components["schemas"]["EvmPolicies"]["allowed_rpc_methods"];
        };
        /**
         * Format: u128
         * @description An exact JSON integer of up to 128 bits.
         */
        readonly ExactU128: bigint;
        /**
         * Format: int64
         * @description An exact JSON integer of up to 63 bits.
         */
        readonly ExactInt64: bigint;
        /** @description A relayer, as in the configuration file. `network_type` determines its fields and policies. */
        readonly CreateRelayerRequest: components["schemas"]["CreateEvmRelayerRequest"] | components["schemas"]["CreateStellarRelayerRequest"] | components["schemas"]["CreateSolanaRelayerRequest"];
        /** EVM relayer */
        readonly CreateEvmRelayerRequest: {
            readonly id?: components["schemas"]["NewId"];
            readonly name: components["schemas"]["RelayerName"];
            /** @description Name of a network of this type, such as `sepolia`. */
            readonly network: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "evm";
            /** @description Creates it paused. False by default. */
            readonly paused?: boolean;
            /** @description The id of the signer with the account's key. */
            readonly signer_id: components["schemas"]["Id"];
            /** @description The id of the notification for this relayer's events. None if absent or null. */
            readonly notification_id?: components["schemas"]["Id"] | null;
            readonly custom_rpc_urls?: components["schemas"]["CustomRpcUrls"];
            /** @description The policies of the relayer. The defaults if absent or null. */
            readonly policies?: components["schemas"]["CreateEvmPolicies"] | null;
            readonly accounts?: components["schemas"]["AccountSources"];
        };
        /**
         * @description The accounts that share the relayer's work, at most 100 in all, beginning with its own. Each needs its own funds. A change adds accounts
         *     immediately; one that it leaves out takes no new work, and leaves a day after its last transaction is final. See docs/accounts.md.
         */
        readonly AccountSources: readonly components["schemas"]["AccountSource"][];
        /** @description A number of accounts of a signer. */
        readonly AccountSource: {
            /** @description The signer of the account. The first entry has the `signer_id` of the relayer. */
            readonly signer_id: components["schemas"]["Id"];
            /**
             * @description The number of its accounts. More than one needs a seed phrase (`mnemonic`), whose accounts follow the signer's `index`.
             * @default 1
             */
            readonly count: number;
        };
        /** @description The accounts that share the work, its own first. Absent for a relayer that never had further ones. */
        readonly RelayerAccounts: readonly components["schemas"]["RelayerAccount"][];
        /** @description One account of a relayer with several. */
        readonly RelayerAccount: {
            readonly address: components["schemas"]["EvmRelayer"]["address"];
            readonly signer_id: components["schemas"]["EvmRelayer"]["signer_id"];
            /** @description Its place among the accounts of the signer, from 0. */
            readonly index: number;
            /**
             * @description `active`: it takes new work · `disabled`: a health check failed, and the others go on · `draining`: it leaves a day after its last
             *     transaction is final.
             * @enum {string}
             */
            readonly state: "active" | "disabled" | "draining";
            readonly disabled_reason?: components["schemas"]["DisabledReason"];
        };
        /** @description The state of one account of a relayer with several. Values that no endpoint returned are omitted. */
        readonly RelayerAccountStatus: {
            readonly address: components["schemas"]["EvmRelayer"]["address"];
            readonly signer_id: components["schemas"]["EvmRelayer"]["signer_id"];
            readonly index: components["schemas"]["RelayerAccount"]["index"];
            readonly state: components["schemas"]["RelayerAccount"]["state"];
            readonly disabled_reason?: components["schemas"]["DisabledReason"];
            readonly balance?: components["schemas"]["RelayerStatus"]["balance"];
            readonly nonce?: components["schemas"]["RelayerStatus"]["nonce"];
            readonly sequence_number?: components["schemas"]["RelayerStatus"]["sequence_number"];
            readonly pending_transactions_count: components["schemas"]["RelayerStatus"]["pending_transactions_count"];
        };
        /** @description The balance of one account. Absent if no endpoint returned it. */
        readonly AccountBalance: {
            readonly address: components["schemas"]["EvmRelayer"]["address"];
            readonly balance?: components["schemas"]["RelayerBalance"]["balance"];
        };
        /** @description Its id. A new UUID by default. */
        readonly NewId: components["schemas"]["Id"];
        /** @description The rules of a relayer on an EVM network. */
        readonly CreateEvmPolicies: {
            readonly eip1559_pricing?: components["schemas"]["EvmPolicies"]["eip1559_pricing"];
            readonly gas_limit_estimation?: components["schemas"]["EvmPolicies"]["gas_limit_estimation"];
            readonly allow_authorization_list?: components["schemas"]["EvmPolicies"]["allow_authorization_list"];
            readonly fair_share?: components["schemas"]["EvmPolicies"]["fair_share"];
            readonly max_queue_seconds?: components["schemas"]["EvmPolicies"]["max_queue_seconds"];
            readonly shared_account?: components["schemas"]["EvmPolicies"]["shared_account"];
            /** @description The most that one unit of gas may cost, in wei. No cap if absent. */
            readonly gas_price_cap?: components["schemas"]["U128"];
            /**
             * @description The most that one transaction may cost in fees, in wei: its gas limit at its highest price, and the fees of a rollup. Default: that of
             *     the network. The service lowers its offer to it while the next block accepts that, and otherwise waits.
             */
            readonly tx_fee_cap?: components["schemas"]["U128"];
            readonly fee_limit_multiplier?: components["schemas"]["EvmPolicies"]["fee_limit_multiplier"];
            /**
             * @description The balance in wei that must remain when everything in flight is paid; the service disables a relayer whose account can spend less. 1 if
             *     absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["U128"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["U128"];
            readonly private_transactions?: components["schemas"]["EvmPolicies"]["private_transactions"];
            readonly private_fallback_blocks?: components["schemas"]["EvmPolicies"]["private_fallback_blocks"];
            readonly whitelist_receivers?: components["schemas"]["EvmPolicies"]["whitelist_receivers"];
            readonly wallet_rpc?: components["schemas"]["EvmPolicies"]["wallet_rpc"];
            readonly typed_data_chain_ids?: components["schemas"]["EvmPolicies"]["typed_data_chain_ids"];
            readonly top_up?: components["schemas"]["TopUpRule"];
            readonly rules?: components["schemas"]["SpendingRules"];
            readonly allowed_rpc_methods?: components["schemas"]["EvmPolicies"]["allowed_rpc_methods"];
            /** @description Accepted and without effect. The service always reports why a transaction reverted. */
            readonly include_revert_data?: boolean;
        };
        /** Stellar relayer */
        readonly CreateStellarRelayerRequest: {
            readonly id?: components["schemas"]["CreateEvmRelayerRequest"]["id"];
            readonly name: components["schemas"]["CreateEvmRelayerRequest"]["name"];
            readonly network: components["schemas"]["CreateEvmRelayerRequest"]["network"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "stellar";
            readonly paused?: components["schemas"]["CreateEvmRelayerRequest"]["paused"];
            readonly signer_id: components["schemas"]["CreateEvmRelayerRequest"]["signer_id"];
            readonly notification_id?: components["schemas"]["CreateEvmRelayerRequest"]["notification_id"];
            readonly custom_rpc_urls?: components["schemas"]["CreateEvmRelayerRequest"]["custom_rpc_urls"];
            /** @description The policies of the relayer. The defaults if absent or null. */
            readonly policies?: components["schemas"]["CreateStellarPolicies"] | null;
            /**
             * @description Channel accounts, whose sequence numbers let as many transactions be in flight at once: a number of accounts derived from the signer's
             *     key, or a list of signers. The service creates missing accounts. None if absent or null.
             */
            readonly channels?: number | readonly components["schemas"]["Id"][] | null;
            readonly accounts?: components["schemas"]["AccountSources"];
        };
        /** @description The rules of a relayer on a Stellar network. */
        readonly CreateStellarPolicies: {
            /**
             * @description The balance in stroops that must remain when everything in flight is paid; the service disables a relayer whose account can spend less.
             *     1000000 if absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["Int64"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["Int64"];
            /** @description The most that one transaction may cost, in stroops, regardless of its request. 1000000 if absent. */
            readonly max_fee?: components["schemas"]["Int64"];
            readonly timeout_seconds?: components["schemas"]["StellarPolicies"]["timeout_seconds"];
            readonly fair_share?: components["schemas"]["EvmPolicies"]["fair_share"];
            readonly max_queue_seconds?: components["schemas"]["EvmPolicies"]["max_queue_seconds"];
            readonly shared_account?: components["schemas"]["EvmPolicies"]["shared_account"];
            readonly top_up?: components["schemas"]["TopUpRule"];
            readonly rules?: components["schemas"]["SpendingRules"];
            readonly allowed_rpc_methods?: components["schemas"]["EvmPolicies"]["allowed_rpc_methods"];
            readonly fee_payment_strategy?: components["schemas"]["FeePaymentStrategy"];
            /** @description Accepted and without effect. `channels` decides how many transactions are in flight at once. */
            readonly concurrent_transactions?: boolean;
            /** @description The tokens in which users can pay. */
            readonly allowed_tokens?: readonly components["schemas"]["AllowedStellarToken"][];
            readonly swap_config?: components["schemas"]["SwapConfig"];
            readonly slippage_percentage?: components["schemas"]["StellarPolicies"]["slippage_percentage"];
            readonly fee_margin_percentage?: components["schemas"]["Percentage"];
            readonly fee_forwarder?: components["schemas"]["StellarPolicies"]["fee_forwarder"];
        };
        /**
         * @description `user`: transactions that others sign must pay for their fee in a token, as `buildSponsoredTransaction` builds them. `relayer`: the relayer
         *     pays. If absent, `user` with `allowed_tokens`, otherwise `relayer`. The relayer's own transactions never pay.
         * @enum {string}
         */
        readonly FeePaymentStrategy: "user" | "relayer";
        /** @description Accepted, and without effect except for `slippage_percentage` of a token. The plugin `swap` has a configuration of its own. */
        readonly SwapConfig: Record<string, never>;
        /** @description A percentage with at most 4 decimals. */
        readonly Percentage: number;
        /** @description Of these, only `slippage_percentage` has an effect. */
        readonly TokenSwap: {
            /** @description The surcharge for the conversion. 1 if absent. */
            readonly slippage_percentage?: number;
            readonly min_amount?: components["schemas"]["U128"];
            readonly max_amount?: components["schemas"]["U128"];
            readonly retain_min_amount?: components["schemas"]["U128"];
        };
        /** @description How the price of a token is known. Two sources must agree; the one at which the token is cheaper counts. */
        readonly TokenPrice: {
            /** @description The sources of the price. */
            readonly sources: readonly components["schemas"]["PriceSource"][];
            /** @description An older price does not count. 60 if absent. */
            readonly max_age_seconds?: number;
            /** @description The most by which two sources may differ. 2 if absent. */
            readonly max_difference_percentage?: number;
        };
        /** @description A source of a price, in tokens for one coin. `type` determines the other fields. */
        readonly PriceSource: {
            /**
             * @description The kind of the source.
             * @enum {string}
             */
            readonly type: "fixed" | "oracle" | "http" | "jupiter" | "pyth";
            /**
             * @description fixed: the price.
             * @example 148.25
             */
            readonly price?: string;
            /** @description oracle on Stellar: a contract with SEP-40. */
            readonly contract?: string;
            /** @description oracle: lumens at it, by symbol or contract; on Solana the price account (Pyth) of SOL. pyth: the id of the feed of the coin. */
            readonly native?: string;
            /** @description oracle, pyth: likewise the token. If absent, the prices are in the token. */
            readonly token?: string;
            /**
             * Format: uri
             * @description http: a URL that answers GET with JSON. jupiter, pyth: that of the API, before `/price/v3` and `/v2/updates`. It is shown to readers of
             *     the relayer.
             */
            readonly url?: string;
            /** @description http: the JSON pointer of the price. */
            readonly pointer?: string;
            /** @description http: the JSON pointer of its time. If absent, it is as old as the response. */
            readonly time_pointer?: string;
            /** @description pyth: a price with a wider confidence interval, in percent of it, does not count. 2 if absent. */
            readonly max_confidence_percentage?: number;
        };
        /** @description A token in which users can pay, as configured. */
        readonly AllowedToken: {
            readonly mint?: components["schemas"]["SolanaPublicKey"];
            /** @description Stellar: the token. */
            readonly asset?: string;
            /** @description The configured decimals. */
            readonly decimals?: number;
            /** @description The configured symbol. */
            readonly symbol?: string;
            readonly max_allowed_fee?: components["schemas"]["ExactU128"];
            readonly max_token_balance?: components["schemas"]["ExactU128"];
            /** @description Of these, only `slippage_percentage` has an effect. */
            readonly swap_config?: {
                /** @description The surcharge for the conversion. */
                readonly slippage_percentage?: number;
                readonly min_amount?: components["schemas"]["ExactU128"];
                readonly max_amount?: components["schemas"]["ExactU128"];
                readonly retain_min_amount?: components["schemas"]["ExactU128"];
            };
            readonly price?: components["schemas"]["TokenPrice"];
        };
        /** @description A token in which users can pay. Amounts are in its base units. */
        readonly AllowedStellarToken: {
            /** @description `native`, `CODE:ISSUER`, or a contract. */
            readonly asset: string;
            /** @description For `getSupportedTokens`; read from the network if absent. */
            readonly decimals?: number;
            /** @description For `getSupportedTokens`. */
            readonly symbol?: string;
            /** @description Accepted and without effect. */
            readonly metadata?: Record<string, never> | null;
            /** @description A higher fee is refused. */
            readonly max_allowed_fee?: components["schemas"]["U128"];
            /** @description The alert `token_balance_high` begins above this balance. */
            readonly max_token_balance?: components["schemas"]["U128"];
            readonly swap_config?: components["schemas"]["TokenSwap"];
            readonly price?: components["schemas"]["TokenPrice"];
        };
        /** @description A token in which users can pay. Amounts are in its base units. */
        readonly AllowedSolanaToken: {
            readonly mint: components["schemas"]["SolanaPublicKey"];
            readonly decimals?: components["schemas"]["AllowedStellarToken"]["decimals"];
            readonly symbol?: components["schemas"]["AllowedStellarToken"]["symbol"];
            readonly metadata?: components["schemas"]["AllowedStellarToken"]["metadata"];
            readonly max_allowed_fee?: components["schemas"]["AllowedStellarToken"]["max_allowed_fee"];
            readonly max_token_balance?: components["schemas"]["AllowedStellarToken"]["max_token_balance"];
            readonly swap_config?: components["schemas"]["TokenSwap"];
            readonly price?: components["schemas"]["TokenPrice"];
        };
        /** Solana relayer */
        readonly CreateSolanaRelayerRequest: {
            readonly id?: components["schemas"]["CreateEvmRelayerRequest"]["id"];
            readonly name: components["schemas"]["CreateEvmRelayerRequest"]["name"];
            readonly network: components["schemas"]["CreateEvmRelayerRequest"]["network"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "solana";
            readonly paused?: components["schemas"]["CreateEvmRelayerRequest"]["paused"];
            readonly signer_id: components["schemas"]["CreateEvmRelayerRequest"]["signer_id"];
            readonly notification_id?: components["schemas"]["CreateEvmRelayerRequest"]["notification_id"];
            readonly custom_rpc_urls?: components["schemas"]["CreateEvmRelayerRequest"]["custom_rpc_urls"];
            /** @description The policies of the relayer. The defaults if absent or null. */
            readonly policies?: components["schemas"]["CreateSolanaPolicies"] | null;
            readonly accounts?: components["schemas"]["AccountSources"];
        };
        /** @description The rules of a relayer on a Solana network. */
        readonly CreateSolanaPolicies: {
            /**
             * @description The balance in lamports that must remain when everything in flight is paid; the service disables a relayer whose account can spend less.
             *     10000000 if absent; 0 for no minimum.
             */
            readonly min_balance?: components["schemas"]["Int64"];
            /**
             * @description The alert `balance_low` starts when the account can spend less than this, in wei, stroops or lamports, and ends when it can spend 110 % of
             *     it. No alert if absent.
             */
            readonly warn_balance?: components["schemas"]["Int64"];
            /** @description The most that one transaction may cost in fees, in lamports. 1000000 if absent. */
            readonly max_allowed_fee_lamports?: components["schemas"]["Int64"];
            readonly allowed_programs?: components["schemas"]["SolanaPolicies"]["allowed_programs"];
            readonly allowed_accounts?: components["schemas"]["SolanaPolicies"]["allowed_accounts"];
            readonly disallowed_accounts?: components["schemas"]["SolanaPolicies"]["disallowed_accounts"];
            readonly max_signatures?: components["schemas"]["SolanaPolicies"]["max_signatures"];
            readonly max_tx_data_size?: components["schemas"]["SolanaPolicies"]["max_tx_data_size"];
            readonly fee_payer_spending?: components["schemas"]["SolanaPolicies"]["fee_payer_spending"];
            readonly fair_share?: components["schemas"]["EvmPolicies"]["fair_share"];
            readonly max_queue_seconds?: components["schemas"]["EvmPolicies"]["max_queue_seconds"];
            readonly shared_account?: components["schemas"]["EvmPolicies"]["shared_account"];
            readonly top_up?: components["schemas"]["TopUpRule"];
            readonly rules?: components["schemas"]["SpendingRules"];
            readonly allowed_rpc_methods?: components["schemas"]["EvmPolicies"]["allowed_rpc_methods"];
            readonly fee_payment_strategy?: components["schemas"]["FeePaymentStrategy"];
            /** @description The tokens in which users can pay. */
            readonly allowed_tokens?: readonly components["schemas"]["AllowedSolanaToken"][];
            readonly swap_config?: components["schemas"]["SwapConfig"];
            readonly fee_margin_percentage?: components["schemas"]["Percentage"];
        };
        readonly AcceptNoncesRequest: {
            /**
             * @description The observation behind the decision, for the audit log.
             * @example Restored the backup of Monday; every payout of Tuesday is canceled here.
             */
            readonly reason: string;
        };
        readonly TransactionDecision: {
            /** @description True: a block includes the transaction. False: no version of it is in the chain. */
            readonly included: boolean;
            /**
             * @description The number of the included attempt. If absent, the one with `hash`, or the current one if there is no hash either. Only with
             *     `included` true.
             */
            readonly attempt?: number;
            /**
             * @description The hash of what was included, as the network writes it (on Solana the signature). If no attempt has it, it was signed with another
             *     database. Only with `included` true, and not with `attempt`.
             */
            readonly hash?: string;
            /**
             * @description The observation behind the decision, for `status_reason` and the audit log.
             * @example The explorer shows it in block 4711.
             */
            readonly reason: string;
        };
        /** @description Decisions about transactions of one relayer. */
        readonly TransactionDecisionsRequest: {
            /** @description The decisions, in the order in which they are made. */
            readonly decisions: readonly {
                readonly transaction_id: components["schemas"]["Id"];
                /** @description True: a block includes the transaction. False: no version of it is in the chain. */
                readonly included: boolean;
                /**
                 * @description The number of the included attempt. If absent, the one with `hash`, or the current one if there is no hash either. Only with
                 *     `included` true.
                 */
                readonly attempt?: number;
                /**
                 * @description The hash of what was included, as the network writes it (on Solana the signature). If no attempt has it, it was signed with another
                 *     database. Only with `included` true, and not with `attempt`.
                 */
                readonly hash?: string;
                /**
                 * @description The observation behind the decision, for `status_reason` and the audit log.
                 * @example The explorer shows it in block 4711.
                 */
                readonly reason: string;
            }[];
        };
        readonly TransactionDecisionsResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TransactionDecisions"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The outcome of many decisions. */
        readonly TransactionDecisions: {
            /** @description Transactions whose decision is stored. */
            readonly decided_transaction_ids: readonly components["schemas"]["Id"][];
            /** @description The decisions that were refused, and the reasons. */
            readonly failures: readonly {
                readonly transaction_id: components["schemas"]["Id"];
                readonly code: components["schemas"]["ErrorCode"];
                /** @description A sentence for a person. */
                readonly error: string;
            }[];
        };
        /** @description The changes, as a JSON merge patch (RFC 7396). */
        readonly UpdateRelayerRequest: {
            readonly name?: components["schemas"]["RelayerName"];
            /** @description A paused relayer accepts no new work. Its accepted transactions wait. */
            readonly paused?: boolean;
            readonly notification_id?: components["schemas"]["CreateEvmRelayerRequest"]["notification_id"];
            readonly custom_rpc_urls?: components["schemas"]["CustomRpcUrls"];
            /** @description They are merged into the current ones; null resets all to the configuration file, or the defaults. */
            readonly policies?: components["schemas"]["RelayerPoliciesPatch"] | null;
            readonly id?: components["schemas"]["Unchangeable"];
            readonly network?: components["schemas"]["Unchangeable"];
            readonly network_type?: components["schemas"]["Unchangeable"];
            readonly address?: components["schemas"]["Unchangeable"];
            /** @description A signer with the same address and the same channels. For another account, create another relayer. */
            readonly signer_id?: components["schemas"]["Id"];
            readonly channels?: components["schemas"]["Unchangeable"];
            readonly accounts?: components["schemas"]["AccountSources"];
            readonly system_disabled?: components["schemas"]["Unchangeable"];
            readonly disabled_reason?: components["schemas"]["Unchangeable"];
        };
        /** @description Cannot be changed. */
        readonly Unchangeable: unknown;
        /**
         * @description Automatic top-up: when the balance is below `below`, the relayer `from` refills it to `to` with an ordinary transaction, under all of its
         *     rules. To set it, a key needs the scopes `relayers:admin` and `transactions:write` and no rules, because it spends the money of `from`. See
         *     docs/top-up.md.
         */
        readonly TopUpRule: {
            /** @description The id of the relayer that pays. It must be on the same network, without forming a circle. */
            readonly from: components["schemas"]["Id"];
            /** @description The balance below which it pays, in wei, stroops or lamports; more than 0. */
            readonly below: components["schemas"]["U128"];
            /** @description The balance that it restores; more than `below`. */
            readonly to: components["schemas"]["U128"];
            /** @description The most that it pays within 24 hours; more than 0. */
            readonly max_per_day: components["schemas"]["U128"];
        };
        /** @description The rule by which another relayer refills the account. The amounts are exact JSON integers in wei, stroops or lamports. */
        readonly TopUp: {
            /** @description The id of the relayer that pays. */
            readonly from: components["schemas"]["Id"];
            /** @description The balance below which it pays. */
            readonly below: components["schemas"]["ExactU128"];
            /** @description The balance that it restores. */
            readonly to: components["schemas"]["ExactU128"];
            /** @description The most that it pays within 24 hours. */
            readonly max_per_day: components["schemas"]["ExactU128"];
        };
        /** @description The state of the automatic top-up (`policies.top_up`). */
        readonly TopUpStatus: {
            /**
             * @description - `enough`: the balance is not below `below`.
             *     - `pending`: a payment is not final yet; no other one begins before.
             *     - `limit_reached`: nothing is left of `max_per_day`.
             *     - `waiting`: the last payment did not succeed; the next one follows at `retry_at`.
             *     - `refused`: the relayer `from` may not or cannot pay, or this one is disabled for another reason than its balance; `code` says why. The
             *       service tries again at `retry_at`.
             * @enum {string}
             */
            readonly state: "enough" | "pending" | "limit_reached" | "waiting" | "refused";
            /** @description The reason of a refusal. */
            readonly code?: components["schemas"]["ErrorCode"];
            /** @description The transaction of the relayer `from` that pays, or the last one, which did not succeed. */
            readonly transaction_id?: components["schemas"]["Id"];
            /** @description The earliest time of the next try. */
            readonly retry_at?: components["schemas"]["Timestamp"];
        };
        /** @description Policies as on creation; null resets one to the configuration file, or the default. Policies of another network type are refused. */
        readonly RelayerPoliciesPatch: {
            readonly eip1559_pricing?: components["schemas"]["CreateEvmPolicies"]["eip1559_pricing"] | null;
            readonly gas_limit_estimation?: components["schemas"]["CreateEvmPolicies"]["gas_limit_estimation"] | null;
            readonly allow_authorization_list?: components["schemas"]["CreateEvmPolicies"]["allow_authorization_list"] | null;
            readonly fair_share?: components["schemas"]["CreateEvmPolicies"]["fair_share"] | null;
            readonly max_queue_seconds?: components["schemas"]["CreateEvmPolicies"]["max_queue_seconds"] | null;
            readonly shared_account?: components["schemas"]["CreateEvmPolicies"]["shared_account"] | null;
            readonly gas_price_cap?: components["schemas"]["CreateEvmPolicies"]["gas_price_cap"] | null;
            readonly tx_fee_cap?: components["schemas"]["CreateEvmPolicies"]["tx_fee_cap"] | null;
            readonly fee_limit_multiplier?: components["schemas"]["CreateEvmPolicies"]["fee_limit_multiplier"] | null;
            readonly min_balance?: components["schemas"]["CreateEvmPolicies"]["min_balance"] | null;
            readonly warn_balance?: components["schemas"]["CreateEvmPolicies"]["warn_balance"] | null;
            readonly private_transactions?: components["schemas"]["CreateEvmPolicies"]["private_transactions"] | null;
            readonly whitelist_receivers?: components["schemas"]["CreateEvmPolicies"]["whitelist_receivers"] | null;
            readonly wallet_rpc?: components["schemas"]["CreateEvmPolicies"]["wallet_rpc"] | null;
            readonly typed_data_chain_ids?: components["schemas"]["CreateEvmPolicies"]["typed_data_chain_ids"] | null;
            readonly top_up?: components["schemas"]["CreateEvmPolicies"]["top_up"] | null;
            readonly private_fallback_blocks?: components["schemas"]["CreateEvmPolicies"]["private_fallback_blocks"] | null;
            readonly allowed_rpc_methods?: components["schemas"]["CreateEvmPolicies"]["allowed_rpc_methods"] | null;
            readonly include_revert_data?: components["schemas"]["CreateEvmPolicies"]["include_revert_data"] | null;
            /** @description New limits on what the relayer may spend, replacing the current ones. */
            readonly rules?: components["schemas"]["SpendingRules"] | null;
            readonly max_fee?: components["schemas"]["CreateStellarPolicies"]["max_fee"] | null;
            readonly timeout_seconds?: components["schemas"]["CreateStellarPolicies"]["timeout_seconds"] | null;
            readonly fee_payment_strategy?: components["schemas"]["CreateStellarPolicies"]["fee_payment_strategy"] | null;
            readonly concurrent_transactions?: components["schemas"]["CreateStellarPolicies"]["concurrent_transactions"] | null;
            /** @description The tokens in which users can pay, replacing the current ones. */
            readonly allowed_tokens?: readonly (components["schemas"]["AllowedStellarToken"] | components["schemas"]["AllowedSolanaToken"])[] | null;
            readonly swap_config?: components["schemas"]["SwapConfig"] | null;
            readonly slippage_percentage?: components["schemas"]["StellarPolicies"]["slippage_percentage"] | null;
            readonly fee_margin_percentage?: components["schemas"]["Percentage"] | null;
            readonly fee_forwarder?: components["schemas"]["StellarPolicies"]["fee_forwarder"] | null;
            readonly max_allowed_fee_lamports?: components["schemas"]["CreateSolanaPolicies"]["max_allowed_fee_lamports"] | null;
            readonly allowed_programs?: components["schemas"]["CreateSolanaPolicies"]["allowed_programs"] | null;
            readonly allowed_accounts?: components["schemas"]["CreateSolanaPolicies"]["allowed_accounts"] | null;
            readonly disallowed_accounts?: components["schemas"]["CreateSolanaPolicies"]["disallowed_accounts"] | null;
            readonly max_signatures?: components["schemas"]["CreateSolanaPolicies"]["max_signatures"] | null;
            readonly max_tx_data_size?: components["schemas"]["CreateSolanaPolicies"]["max_tx_data_size"] | null;
            readonly fee_payer_spending?: components["schemas"]["CreateSolanaPolicies"]["fee_payer_spending"] | null;
        };
        readonly RelayerResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Relayer"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly RelayerDeletedResponse: {
            /** @constant */
            readonly success: true;
            /** @constant */
            readonly data: "Relayer deleted successfully";
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly RelayerStatusResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["RelayerStatus"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The state of a relayer. Values that no endpoint returned are omitted. */
        readonly RelayerStatus: {
            readonly network_type: components["schemas"]["NetworkType"];
            /** @description The amount that the account can spend, in wei, stroops or lamports, as a decimal string; see `getRelayerBalance`. */
            readonly balance?: components["schemas"]["DecimalString"];
            /** @description EVM: the nonce of the next transaction, as a decimal string. */
            readonly nonce?: components["schemas"]["DecimalString"];
            /** @description Stellar: the sequence number of the account on the ledger, as a decimal string. Also absent while the account does not exist. */
            readonly sequence_number?: components["schemas"]["DecimalString"];
            /** @description The number of transactions that are `pending`, `sent` or `submitted`. */
            readonly pending_transactions_count: number;
            /** @description Those that wait for an approval, for `after` or for `valid_from`. Absent if none. */
            readonly deferred_transactions_count?: number;
            /** @description When the service accepted the oldest of the others, or its later `valid_from`. Absent if there is none. */
            readonly oldest_pending_transaction_timestamp?: components["schemas"]["Timestamp"];
            /** @description When a transaction of the relayer was last confirmed. Absent if none was. */
            readonly last_confirmed_transaction_timestamp?: components["schemas"]["Timestamp"];
            /** @description True while the service has disabled the relayer. */
            readonly system_disabled: boolean;
            /** @description True while the relayer is paused. */
            readonly paused: boolean;
            /** @description The newest block of its network. */
            readonly network_head?: components["schemas"]["NetworkHead"];
            /** @description The state of `policies.top_up`. Absent without this policy, and before the first decision. */
            readonly top_up?: components["schemas"]["TopUpStatus"];
            /** @description The states of the accounts, its own first. Absent for a relayer that never had further ones. */
            readonly accounts?: readonly components["schemas"]["RelayerAccountStatus"][];
        };
        /** @description The newest block of a network, as its endpoints reported it to this process. Absent if none reported one recently. */
        readonly NetworkHead: {
            /** @description The height of the block: of the finalized slot on Solana. */
            readonly block: components["schemas"]["Quantity"];
            /** @description The time for which at least no newer block was seen, in seconds. */
            readonly age_seconds: number;
            /**
             * @description True if there was no block for 20 times the network's `average_blocktime_ms`, and for at least 60 s: it has halted, or its endpoints no
             *     longer follow it. Always false for networks that make blocks only on demand.
             */
            readonly halted: boolean;
            /** @description The timestamp of the block, in a diagnosis on EVM and Stellar. */
            readonly timestamp?: components["schemas"]["Timestamp"];
        };
        readonly RelayerBalanceResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["RelayerBalance"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The balance that an account can spend. */
        readonly RelayerBalance: {
            /**
             * Format: u256
             * @description The balance in `unit`, as an exact JSON integer. It can exceed 2^53, which JavaScript's `JSON.parse` rounds: use a parser that keeps
             *     integers, or the decimal string in `balance` of `getRelayerStatus`.
             */
            readonly balance: bigint;
            /**
             * @description The smallest unit of the network: wei on EVM, stroop on Stellar, lamport on Solana.
             * @enum {string}
             */
            readonly unit: "wei" | "stroop" | "lamport";
            /** @description The balances of the accounts, its own first. Absent for a relayer that never had further ones. */
            readonly accounts?: readonly components["schemas"]["AccountBalance"][];
        };
        /** @description An account that the service operates on one network, with a signer and rules. */
        readonly Relayer: components["schemas"]["EvmRelayer"] | components["schemas"]["StellarRelayer"] | components["schemas"]["SolanaRelayer"];
        /** Relayer on an EVM network */
        readonly EvmRelayer: {
            readonly id: components["schemas"]["Id"];
            /** @description For people. */
            readonly name: string;
            /** @description Name of the network. */
            readonly network: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "evm";
            /** @description The address of the account in the encoding of its network: EIP-55 on EVM, `G…` on Stellar, base58 on Solana. */
            readonly address: string;
            /** @description The signer that holds the key. */
            readonly signer_id: string;
            /** @description The notification that receives the events of this relayer. */
            readonly notification_id?: string;
            /** @description True while the relayer is paused. A paused relayer accepts no new work. */
            readonly paused: boolean;
            /**
             * @description True while the service has disabled the relayer because a health check failed; `disabled_reason` says why. The relayer signs nothing new,
             *     and new work is refused with `relayer_disabled`. Signed transactions continue, accepted ones wait, and nothing is canceled. The first
             *     check that passes enables the relayer again.
             */
            readonly system_disabled: boolean;
            readonly disabled_reason?: components["schemas"]["DisabledReason"];
            /** @description Endpoints that this relayer uses instead of the network's. */
            readonly custom_rpc_urls?: readonly components["schemas"]["RpcUrl"][];
            readonly policies: components["schemas"]["EvmPolicies"];
            readonly accounts?: components["schemas"]["RelayerAccounts"];
        };
        /** Relayer on a Stellar network */
        readonly StellarRelayer: {
            readonly id: components["schemas"]["EvmRelayer"]["id"];
            readonly name: components["schemas"]["EvmRelayer"]["name"];
            readonly network: components["schemas"]["EvmRelayer"]["network"];
            readonly address: components["schemas"]["EvmRelayer"]["address"];
            readonly signer_id: components["schemas"]["EvmRelayer"]["signer_id"];
            readonly notification_id?: components["schemas"]["EvmRelayer"]["notification_id"];
            readonly paused: components["schemas"]["EvmRelayer"]["paused"];
            readonly system_disabled: components["schemas"]["EvmRelayer"]["system_disabled"];
            readonly disabled_reason?: components["schemas"]["EvmRelayer"]["disabled_reason"];
            readonly custom_rpc_urls?: components["schemas"]["EvmRelayer"]["custom_rpc_urls"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "stellar";
            readonly policies: components["schemas"]["StellarPolicies"];
            /**
             * @description Channel accounts, whose sequence numbers let as many transactions be in flight at once. They sign in addition to the relayer, which pays;
             *     the service creates missing ones.
             */
            readonly channels?: readonly components["schemas"]["StellarAccount"][];
            readonly accounts?: components["schemas"]["RelayerAccounts"];
        };
        /** Relayer on a Solana network */
        readonly SolanaRelayer: {
            readonly id: components["schemas"]["EvmRelayer"]["id"];
            readonly name: components["schemas"]["EvmRelayer"]["name"];
            readonly network: components["schemas"]["EvmRelayer"]["network"];
            readonly address: components["schemas"]["EvmRelayer"]["address"];
            readonly signer_id: components["schemas"]["EvmRelayer"]["signer_id"];
            readonly notification_id?: components["schemas"]["EvmRelayer"]["notification_id"];
            readonly paused: components["schemas"]["EvmRelayer"]["paused"];
            readonly system_disabled: components["schemas"]["EvmRelayer"]["system_disabled"];
            readonly disabled_reason?: components["schemas"]["EvmRelayer"]["disabled_reason"];
            readonly custom_rpc_urls?: components["schemas"]["EvmRelayer"]["custom_rpc_urls"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "solana";
            readonly policies: components["schemas"]["SolanaPolicies"];
            readonly accounts?: components["schemas"]["RelayerAccounts"];
        };
        /**
         * @description Why the service disabled the relayer. The service checks every relayer at its start, when it is created, when its endpoints or its policies
         *     are changed, and every 30 seconds (`RELAYER_HEALTH_INTERVAL_SECONDS`); it checks a disabled one after 10, 20, 30, 45 and then every 60
         *     seconds. A check without an answer counts neither way, so a short outage disables no relayer.
         */
        readonly DisabledReason: {
            /**
             * @description - `RpcValidationFailed`: most endpoints serve another network than configured; or the first block of a test network has changed, so
             *       its chain was reset; or no endpoint has answered in three checks in a row, over at least 30 seconds.
             *     - `BalanceCheckFailed`: the account can spend less than `min_balance`; an account that does not exist can spend nothing.
             *     - `NonceSyncFailed`: EVM. In two checks in a row, the account's next nonce on the chain was already used by a confirmed transaction: the
             *       chain was reset, or it is another one.
             *     - `SequenceSyncFailed`: Stellar. The same for the sequence number of the account, or of a channel.
             *     - `SignerCheckFailed`: the key service refuses to sign, or has another key now. One that does not answer disables nothing: transactions
             *       wait.
             *     - `UnexplainedNonces`: EVM and Stellar. The chain has used nonces (sequence numbers) of the account, or of a channel, that the records do
             *       not explain: the database was restored from a backup, a standby without its last commits took over, or another program uses the key.
             *       Waiting transactions may already be paid. `acceptNonces` ends this state; the policy `shared_account` disables the check.
             *     - `UnexplainedTransactions`: Solana. The account alone has signed transactions that the records do not explain, with the same reasons and
             *       remedies. `details` names some of them.
             *     - `Multiple`: several of these; `details` has all of them.
             * @enum {string}
             */
            readonly type: "NonceSyncFailed" | "RpcValidationFailed" | "BalanceCheckFailed" | "SequenceSyncFailed" | "SignerCheckFailed" | "UnexplainedNonces" | "UnexplainedTransactions" | "Multiple";
            /** @description The findings, in sentences for people, with the numbers. */
            readonly details: string;
        };
        /** @description One endpoint, as shown in responses. */
        readonly RpcUrl: {
            /**
             * @description The scheme and the host, with `/***` for a path or query, which often hold a secret.
             * @example https://rpc.example/***
             */
            readonly url: string;
            /** @description The share of requests, which is the endpoint's weight divided by the sum of all. 0 is never used. */
            readonly weight: number;
        };
        /**
         * @description A right to call operations; the security scheme `bearer` describes each. Those of the whole deployment cannot be limited to relayers or
         *     networks: `relayers:admin`, `signers:read`, `signers:admin`, `signers:create-keys`, `networks:admin`, `notifications:write`, `audit:read`,
         *     `api-keys:read`, `api-keys:admin`, `plugins:read` and `plugins:admin`.
         * @enum {string}
         */
        readonly Scope: "relayers:read" | "relayers:write" | "relayers:admin" | "transactions:read" | "transactions:write" | "transactions:approve" | "sign" | "rpc" | "signers:read" | "signers:admin" | "signers:create-keys" | "networks:read" | "networks:admin" | "notifications:read" | "notifications:write" | "events:read" | "metrics:read" | "audit:read" | "api-keys:read" | "api-keys:admin" | "plugins:read" | "plugins:call" | "plugins:admin";
        /** @description The rights of the key. */
        readonly Scopes: readonly components["schemas"]["Scope"][];
        /**
         * @description The relayers that the key sees, by id; a trailing `*` matches any ending. All if absent. What the key does not see is Not found for it, and no
         *     list, event, delivery or metric shows it.
         */
        readonly RelayerPatterns: readonly string[];
        /** @description The networks whose relayers the key sees, by the id of `listNetworks`. All if absent. */
        readonly NetworkPatterns: readonly string[];
        /** @description A name for people. It does not begin with a space and has no control characters. */
        readonly ApiKeyName: components["schemas"]["RelayerName"];
        /**
         * @description The rules for what an API key or a relayer may spend. An absent rule forbids nothing; every rule of the relayer and of the key must allow a
         *     request. Under `receivers`, `assets` or a limit with a `value`, calls whose effects the service cannot read are refused, unless `contracts` or
         *     `operations` name them. docs/spending.md explains them.
         */
        readonly SpendingRules: {
            /**
             * @description The only accounts that may receive the native currency or tokens, or an allowance (`approve`). Solana: a token account receives tokens. If
             *     empty, none.
             */
            readonly receivers?: readonly components["schemas"]["SpendingName"][];
            /**
             * @description The only contracts (EVM, Stellar) and programs (Solana) that may be called; contract creation is then refused. If empty, none. Calls to
             *     these are allowed even if the service cannot read what they move.
             */
            readonly contracts?: readonly components["schemas"]["SpendingName"][];
            /** @description EVM. The only functions that may be called, by the first four bytes of the data. */
            readonly selectors?: readonly string[];
            /**
             * @description Stellar. The only types of operations, such as `payment`. These are allowed even if the service cannot read what they move, such as
             *     `account_merge`; contracts that `invoke_contract` calls are not.
             */
            readonly operations?: readonly string[];
            /** @description The only assets that may be moved: `native`, the address of a token or mint, or `CODE:ISSUER`. */
            readonly assets?: readonly components["schemas"]["SpendingName"][];
            /** @description Spending limits. */
            readonly limits?: readonly components["schemas"]["SpendingLimit"][];
            /** @description API keys only. The limits of each user whom the header `User-Id` names, counted apart. With it, requests that spend need this header. */
            readonly user_limits?: readonly components["schemas"]["SpendingLimit"][];
            readonly require_approval?: components["schemas"]["ApprovalRule"];
            readonly hours?: components["schemas"]["SpendingHours"];
            /**
             * @description `required`: nothing is sent without an `Idempotency-Key`. `optional` by default.
             * @enum {string}
             */
            readonly idempotency?: "required" | "optional";
            /**
             * @description `any` allows signing messages and typed data, whose effects cannot be read. `readable`, the default: rules of any kind refuse these
             *     signatures.
             * @enum {string}
             */
            readonly signatures?: "readable" | "any";
        };
        /** @description An address, `native`, or `CODE:ISSUER`. EVM addresses are compared and shown in lower case; a wrong EIP-55 checksum is refused. */
        readonly SpendingName: string;
        /**
         * @description The maximum in a rolling period, on each network separately. `value` is in the smallest unit of the asset; `fees` is everything that
         *     transactions cost besides their value, in the native currency; `count` is the number of transactions.
         */
        readonly SpendingLimit: {
            /**
             * @description One transaction, or the last 60 minutes, 24 hours or 30 days.
             * @enum {string}
             */
            readonly per: "transaction" | "hour" | "day" | "month";
            /**
             * @description `native` by default; otherwise the address of a token (EVM), mint (Solana) or contract (Stellar), or `CODE:ISSUER`. Other assets have no
             *     `fees` and no `count`.
             */
            readonly asset?: string;
            /** @description The network that it applies to, by the id of `listNetworks`. If absent, every one, separately. */
            readonly network?: string;
            /** @description The maximum amount of the asset. */
            readonly value?: components["schemas"]["U128"];
            /** @description The maximum besides the value. */
            readonly fees?: components["schemas"]["U128"];
            /** @description The maximum number of transactions. */
            readonly count?: number;
        };
        /**
         * @description Transactions that wait as `pending` until another API key with the scope `transactions:approve` decides (`decideApproval`). Without `above`
         *     and `new_receivers`, all of them do. Calls that cannot be read wait as well, unless `contracts` or `operations` name them. Replacements and
         *     `signTransaction` cannot wait, so they are refused if this rule would stop them.
         */
        readonly ApprovalRule: {
            /** @description A transaction that moves more of one of these assets waits. */
            readonly above?: readonly components["schemas"]["ApprovalThreshold"][];
            /** @description `true`: a transaction with a receiver that no approved transaction of this key or relayer has paid before, on this network, waits. */
            readonly new_receivers?: boolean;
            /** @description The longest wait; then the transaction ends as `expired`. 86400 (a day) by default. */
            readonly expires_after_seconds?: number;
        };
        /** @description An amount of one asset, in its smallest unit. */
        readonly ApprovalThreshold: {
            /** @description `native` by default; otherwise as in limits. */
            readonly asset?: components["schemas"]["SpendingLimit"]["asset"];
            /** @description The network that it applies to, by the id of `listNetworks`. If absent, every one. */
            readonly network?: components["schemas"]["SpendingLimit"]["network"];
            /** @description The maximum that needs no approval. */
            readonly value: components["schemas"]["U128"];
        };
        /** @description The time of day when sending is allowed, in UTC. An end before the start is on the next day. */
        readonly SpendingHours: {
            readonly from: components["schemas"]["TimeOfDay"];
            readonly to: components["schemas"]["TimeOfDay"];
            /** @description The days on which it starts. Every day by default. */
            readonly days?: readonly ("sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday")[];
        };
        /** @description Hours and minutes. */
        readonly TimeOfDay: string;
        /** @description What was spent. */
        readonly SpendingUsageResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["SpendingUsage"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ActivityResponse: {
            /** @constant */
            readonly success: true;
            /** @description The activity of a period. */
            readonly data: {
                /** @description In the order of time, then network. Without a row, nothing was accepted. */
                readonly rows: readonly components["schemas"]["ActivityRow"][];
                /** @description What is older is not counted. Absent if everything is. */
                readonly complete_from?: components["schemas"]["Timestamp"];
            };
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description What was accepted in one step, on one network. */
        readonly ActivityRow: {
            /** @description The start of the hour or day. */
            readonly start: components["schemas"]["Timestamp"];
            /** @description By type and name, such as `evm:sepolia`. */
            readonly network: string;
            /** @description The id of the relayer or API key. Null for the service itself, for others, and without `by`. */
            readonly name: components["schemas"]["Id"] | null;
            /**
             * @description The row counts all relayers or keys beyond the ten largest. Absent otherwise.
             * @constant
             */
            readonly others?: true;
            /** @description All transactions of the row; those without a final status are still open. */
            readonly accepted: number;
            /** @description Confirmed. */
            readonly confirmed: number;
            /** @description Failed. */
            readonly failed: number;
            /** @description Canceled. */
            readonly canceled: number;
            /** @description Expired. */
            readonly expired: number;
            /** @description The fees that the accounts paid, in the smallest unit. */
            readonly fees: components["schemas"]["DecimalString"];
            /** @description The included transactions whose fee no node reported; not in `fees`. */
            readonly unknown_fees: number;
            /** @description The median time from the acceptance to the block. Absent without one. */
            readonly wait_median_ms?: number;
            /** @description 95 % waited at most so long. Absent without one. */
            readonly wait_p95_ms?: number;
        };
        /** @description A report. */
        readonly SpendingReportResponse: {
            /**
             * @description Always true.
             * @constant
             */
            readonly success: true;
            /** @description The rows in the order of day, relayer, API key, network and asset, the native currency first. Without a row, nothing was spent. */
            readonly data: readonly components["schemas"]["SpendingReportRow"][];
        };
        /**
         * @description The rows of the report as CSV (RFC 4180), after a row with the names of the columns. An id that begins with `-` has a leading apostrophe, so
         *     that a spreadsheet treats it as text.
         */
        readonly SpendingReportCsv: string;
        /** @description CSV (RFC 4180), after a row with the names of the columns. */
        readonly TransactionsCsv: string;
        /** @description What one API key spent through one relayer on one day, in one asset. */
        readonly SpendingReportRow: {
            /**
             * Format: date
             * @description The day of the confirmation, in UTC.
             */
            readonly day: string;
            /** @description The relayer. */
            readonly relayer_id: components["schemas"]["Id"];
            /** @description The id of the API key that sent the transactions, `root` for that of the environment, `service` for top-ups. Null for other transactions of the service itself, such as gap fillers, and for those accepted by a version without this field. */
            readonly requested_by: components["schemas"]["Id"] | null;
            /** @description The network by type and name, such as `evm:sepolia`. */
            readonly network: string;
            /** @description The asset as in the rules for spending, such as `native`. */
            readonly asset: string;
            /** @description What the transactions moved of the asset. */
            readonly value: components["schemas"]["DecimalString"];
            /** @description The fees paid, including those of failed ones; 0 for assets other than the native currency. */
            readonly fees: components["schemas"]["DecimalString"];
            /** @description The number of transactions that moved the asset. In a row of the native currency, all are counted. */
            readonly transactions: number;
            /** @description The number of transactions that called contracts whose effects are not in their bytes, or whose included content has since been replaced. `value` has what is known of them. */
            readonly unknown_values: number;
            /** @description The number of transactions whose fee no node reported; not in `fees`. */
            readonly unknown_fees: number;
            /** @description What arrived of the asset from users for fees of sponsored transactions, as the chain tells it. */
            readonly earned: components["schemas"]["DecimalString"];
            /** @description The number of sponsored transactions of which no node told what arrived; not in `earned`. */
            readonly unknown_earned: number;
        };
        /** @description What was spent, and what is left of each limit. */
        readonly SpendingUsage: {
            /** @description Each limit of a rolling period on each network, in the order of the rules. */
            readonly limits: readonly components["schemas"]["LimitUsage"][];
            /** @description The amount spent of each asset on each network, if a limit names it. The native currency is always included. */
            readonly spent: readonly components["schemas"]["AssetUsage"][];
        };
        /** @description What is left of one limit on one network. */
        readonly LimitUsage: {
            /** @description The limit by its path in the rules, such as `limits[0]`. */
            readonly rule: string;
            /**
             * @description The rolling period: 60 minutes, 24 hours or 30 days.
             * @enum {string}
             */
            readonly per: "hour" | "day" | "month";
            /** @description The network by type and name, such as `evm:sepolia`. */
            readonly network: string;
            /** @description The asset, as the limit names it. */
            readonly asset: string;
            readonly value?: components["schemas"]["LimitedAmount"];
            readonly fees?: components["schemas"]["LimitedAmount"];
            readonly count?: components["schemas"]["LimitedAmount"];
        };
        /** @description Decimal digits. */
        readonly LimitedAmount: {
            readonly limit: components["schemas"]["DecimalString"];
            readonly spent: components["schemas"]["DecimalString"];
            /** @description 0 even if more was spent. */
            readonly left: components["schemas"]["DecimalString"];
        };
        /** @description What was spent of one asset. */
        readonly AssetUsage: {
            /** @description The network by type and name, such as `evm:sepolia`. */
            readonly network: string;
            /** @description `native`, the address of a token or mint, or `CODE:ISSUER`. */
            readonly asset: string;
            readonly hour: components["schemas"]["SpentAmounts"];
            readonly day: components["schemas"]["SpentAmounts"];
            /** @description The last 30 days. */
            readonly month: components["schemas"]["SpentAmounts"];
        };
        /** @description The sums of a rolling period. */
        readonly SpentAmounts: {
            readonly value: components["schemas"]["DecimalString"];
            readonly fees: components["schemas"]["DecimalString"];
            /** @description The number of transactions; 0 for assets other than the native currency. */
            readonly count: number;
        };
        /** @description A secret of an API key, without the secret. */
        readonly ApiKeySecret: {
            /** @description Its first characters, to recognise it. */
            readonly prefix: string;
            /** @description The time when it was issued. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description The end of the overlap after a rotation; absent for the newest one. */
            readonly expires_at?: components["schemas"]["Timestamp"];
        };
        /** @description An API key, without its secrets. */
        readonly ApiKey: {
            readonly id: components["schemas"]["Id"];
            readonly name: components["schemas"]["ApiKeyName"];
            readonly scopes: components["schemas"]["Scopes"];
            readonly relayers?: components["schemas"]["RelayerPatterns"];
            readonly networks?: components["schemas"]["NetworkPatterns"];
            readonly rules?: components["schemas"]["SpendingRules"];
            /** @description While it is true, no secret of the key is accepted. */
            readonly disabled: boolean;
            /** @description The time from which no secret of the key is accepted; absent if it does not expire. */
            readonly expires_at?: components["schemas"]["Timestamp"];
            /** @description The time of the last request with the key, up to a minute late; absent before the first one. */
            readonly last_used_at?: components["schemas"]["Timestamp"];
            /** @description The time of its creation. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description The id of the key that created it. */
            readonly created_by: string;
            /** @description The accepted secrets, the newest first. */
            readonly secrets: readonly components["schemas"]["ApiKeySecret"][];
        };
        readonly RoleListResponse: {
            /** @constant */
            readonly success: true;
            /** @description All roles. */
            readonly data: readonly components["schemas"]["Role"][];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * @description The name of a role. `application` is for API keys only.
         * @enum {string}
         */
        readonly RoleName: "application" | "viewer" | "operator" | "approver" | "auditor" | "admin";
        /** @description A set of scopes for the usual owner of a key. */
        readonly Role: {
            readonly name: components["schemas"]["RoleName"];
            /** @description What it is for. */
            readonly description: string;
            readonly scopes: components["schemas"]["Scopes"];
        };
        /** @description A person who signed in, as the provider's token named them. */
        readonly Person: {
            /** @description The provider. */
            readonly issuer: string;
            /** @description The id of the person at the provider (`sub`), which never changes. */
            readonly subject: string;
            /** @description The name. */
            readonly name?: string;
            /** @description The e-mail address, unless the provider says that it is not verified. */
            readonly email?: string;
        };
        /** @description The id of a person in all records, where an API key has its own. It derives from issuer and subject. */
        readonly PersonId: string;
        /**
         * @description `unfinished`: approved, and its change is under way, or was interrupted; the audit log says whether it took effect · `approved`: it took
         *     effect · `expired`: not decided in time.
         * @enum {string}
         */
        readonly ProposalState: "waiting" | "unfinished" | "approved" | "refused" | "expired";
        readonly ProposalListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Proposal"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly DecidedProposalResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DecidedProposal"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description A decided proposal. */
        readonly DecidedProposal: {
            readonly proposal: components["schemas"]["Proposal"];
            /** @description The `data` that the approved operation returned: of a new or rotated API key with its secret, once. */
            readonly result?: unknown;
        };
        /** @description A change that waits or has waited for a second person. */
        readonly Proposal: {
            readonly id: components["schemas"]["Id"];
            /** @description The `operationId` of the change. */
            readonly operation: string;
            /** @description The record, such as `api_key:payments`; absent for a new one without an id. */
            readonly target?: string;
            /** @description The parameters and the body, without secrets. */
            readonly change: components["schemas"]["AuditedRecord"];
            readonly state: components["schemas"]["ProposalState"];
            readonly proposed_by: components["schemas"]["PersonId"];
            /** @description Who proposed it. */
            readonly proposed_by_person?: components["schemas"]["Person"];
            /** @description When it was proposed. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When it ends without a decision. */
            readonly expires_at: components["schemas"]["Timestamp"];
            /** @description Who decided. */
            readonly decided_by?: components["schemas"]["PersonId"];
            /** @description Who decided. */
            readonly decided_by_person?: components["schemas"]["Person"];
            /** @description When it was decided. */
            readonly decided_at?: components["schemas"]["Timestamp"];
            /** @description The comment with the decision. */
            readonly decision_reason?: string;
        };
        readonly SessionListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Session"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description One sign-in of a person, until its end. */
        readonly Session: {
            readonly id: components["schemas"]["Id"];
            readonly person_id: components["schemas"]["PersonId"];
            readonly person: components["schemas"]["Person"];
            /** @description The roles that the provider named at the sign-in. */
            readonly roles: readonly components["schemas"]["RoleName"][];
            /** @description The address from which the person signed in; of IPv6 the network of 64 bits. */
            readonly address?: string;
            /** @description The browser of the sign-in. */
            readonly user_agent?: string;
            /** @description The time of the sign-in. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description The time of the last request, up to a minute late. */
            readonly last_used_at: components["schemas"]["Timestamp"];
            /** @description The latest end. */
            readonly expires_at: components["schemas"]["Timestamp"];
        };
        readonly VersionResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Version"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The release that answers. */
        readonly Version: {
            /** @description Its version. */
            readonly version: string;
        };
        readonly CurrentApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["CurrentApiKey"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The rights of the calling API key, or of a session. */
        readonly CurrentApiKey: {
            /** @description The id of the key; `root` for that of the environment, and of a session that of its person. */
            readonly id: string;
            readonly person?: components["schemas"]["Person"];
            /** @description The session, of a person. */
            readonly session?: {
                readonly id: components["schemas"]["Id"];
                /** @description Its roles. */
                readonly roles: readonly components["schemas"]["RoleName"][];
                /** @description Its latest end. */
                readonly expires_at: components["schemas"]["Timestamp"];
            };
            readonly scopes: components["schemas"]["Scopes"];
            readonly relayers?: components["schemas"]["RelayerPatterns"];
            readonly networks?: components["schemas"]["NetworkPatterns"];
            readonly rules?: components["schemas"]["SpendingRules"];
            /** @description The time from which no secret of the key is accepted; absent if it does not expire. */
            readonly expires_at?: components["schemas"]["Timestamp"];
        };
        /** @description An API key with the secret that was just issued. */
        readonly IssuedApiKey: {
            readonly id: components["schemas"]["Id"];
            readonly name: components["schemas"]["ApiKeyName"];
            readonly scopes: components["schemas"]["Scopes"];
            readonly relayers?: components["schemas"]["RelayerPatterns"];
            readonly networks?: components["schemas"]["NetworkPatterns"];
            readonly rules?: components["schemas"]["SpendingRules"];
            /** @description While it is true, no secret of the key is accepted. */
            readonly disabled: boolean;
            /** @description The time from which no secret of the key is accepted; absent if it does not expire. */
            readonly expires_at?: components["schemas"]["Timestamp"];
            /** @description The time of the last request with the key, up to a minute late; absent before the first one. */
            readonly last_used_at?: components["schemas"]["Timestamp"];
            /** @description The time of its creation. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description The id of the key that created it. */
            readonly created_by: string;
            /** @description The accepted secrets, the newest first. */
            readonly secrets: readonly components["schemas"]["ApiKeySecret"][];
            /** @description The secret for the header `Authorization`. It is not shown again. */
            readonly secret: string;
        };
        /** @description A new API key. */
        readonly CreateApiKeyRequest: {
            readonly id?: components["schemas"]["NewId"];
            readonly name: components["schemas"]["ApiKeyName"];
            readonly scopes: components["schemas"]["Scopes"];
            readonly relayers?: components["schemas"]["RelayerPatterns"];
            readonly networks?: components["schemas"]["NetworkPatterns"];
            readonly rules?: components["schemas"]["SpendingRules"];
            readonly expires_at?: components["schemas"]["ApiKeyExpiry"];
        };
        /**
         * Format: date-time
         * @description The time from which the key is no longer accepted, in the future. If absent, the key does not expire.
         */
        readonly ApiKeyExpiry: string;
        /** @description The fields to change. */
        readonly UpdateApiKeyRequest: {
            readonly name?: components["schemas"]["ApiKeyName"];
            readonly scopes?: components["schemas"]["Scopes"];
            /** @description The relayers that the key sees; null for all. */
            readonly relayers?: components["schemas"]["RelayerPatterns"] | null;
            /** @description The networks whose relayers the key sees; null for all. */
            readonly networks?: components["schemas"]["NetworkPatterns"] | null;
            /** @description New rules for what it may spend, replacing the current ones; null for none. */
            readonly rules?: components["schemas"]["SpendingRules"] | null;
            /** @description True disables it; false enables it. */
            readonly disabled?: boolean;
            /** @description The end; null for none. */
            readonly expires_at?: components["schemas"]["ApiKeyExpiry"] | null;
        };
        /** @description How to change it. */
        readonly RotateApiKeyRequest: {
            /** @description How long the previous secret is still accepted, in seconds. A day by default; at most 30 days. */
            readonly overlap_seconds?: number;
        };
        /**
         * @description A key that relayers sign with. `type` says where the key is: `local` in this service, from the API (`plain`) or the configuration file;
         *     `generated` in this service, which created it; `mnemonic` in this service, as one account of a seed phrase; otherwise in the key service of
         *     that name. `config` contains neither the key nor any secret of that service.
         */
        readonly Signer: components["schemas"]["LocalSigner"] | components["schemas"]["GeneratedSigner"] | components["schemas"]["MnemonicSigner"] | components["schemas"]["AwsKmsSigner"] | components["schemas"]["GoogleCloudKmsSigner"] | components["schemas"]["AzureKeyVaultSigner"] | components["schemas"]["TurnkeySigner"] | components["schemas"]["CdpSigner"] | components["schemas"]["VaultSigner"] | components["schemas"]["VaultTransitSigner"] | components["schemas"]["Web3SignerSigner"] | components["schemas"]["Pkcs11Signer"];
        /** @description A new signer. `type` determines the fields of `config`. */
        readonly CreateSignerRequest: components["schemas"]["CreateGeneratedSignerRequest"] | components["schemas"]["CreatePlainSignerRequest"] | components["schemas"]["CreateMnemonicSignerRequest"] | components["schemas"]["CreateAwsKmsSignerRequest"] | components["schemas"]["CreateGoogleCloudKmsSignerRequest"] | components["schemas"]["CreateAzureKeyVaultSignerRequest"] | components["schemas"]["CreateTurnkeySignerRequest"] | components["schemas"]["CreateCdpSignerRequest"] | components["schemas"]["CreateVaultSignerRequest"] | components["schemas"]["CreateVaultTransitSignerRequest"] | components["schemas"]["CreateWeb3SignerSignerRequest"];
        readonly KeyCreationListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["KeyCreation"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly KeyCreationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["KeyCreation"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * @description The curve of a key. `secp256k1` is that of EVM, `ed25519` that of Stellar and Solana.
         * @enum {string}
         */
        readonly KeyCurve: "secp256k1" | "ed25519";
        /** @description A key that a key service created, or is to create, for a signer. */
        readonly KeyCreation: {
            /** @description The id of the signer. */
            readonly signer_id: components["schemas"]["Id"];
            /**
             * @description The type of the signer.
             * @enum {string}
             */
            readonly type: "aws_kms" | "google_cloud_kms" | "azure_key_vault" | "vault_transit" | "turnkey";
            readonly curve: components["schemas"]["KeyCurve"];
            /**
             * @description `requested`: there may be a key or not · `made`: the key is there, and has not signed yet · `usable`: the key has signed, and its signer
             *     was stored. The first two need the same request again.
             * @enum {string}
             */
            readonly state: "requested" | "made" | "usable";
            /** @description The place of the key; without secrets. */
            readonly config: {
                readonly [key: string]: unknown;
            };
            /** @description The name or tag of the key, absent while it is `requested`: no one is to take it before. */
            readonly key_name?: string;
            /** @description The fields of `config` in which the signer names the key. Absent while it is `requested`. */
            readonly key?: {
                readonly [key: string]: unknown;
            };
            /** @description The accounts of the key. Absent until it is `usable`. */
            readonly addresses?: {
                /** @description On EVM networks. */
                readonly evm?: components["schemas"]["EvmAddress"];
                /** @description On Solana. */
                readonly solana?: components["schemas"]["SolanaPublicKey"];
                /** @description On Stellar. */
                readonly stellar?: components["schemas"]["StellarAccount"];
            };
            /** @description What happened, and what to do. Absent if it is `usable`. */
            readonly detail?: string;
            /** @description When it was requested. */
            readonly created_at: components["schemas"]["Timestamp"];
        };
        /** @description A key to be created, and the signer that uses it. `config` is that of a signer of this `type`, without the fields that name a key. */
        readonly CreateKeyRequest: components["schemas"]["CreateAwsKmsKeyRequest"] | components["schemas"]["CreateGoogleCloudKmsKeyRequest"] | components["schemas"]["CreateAzureKeyVaultKeyRequest"] | components["schemas"]["CreateVaultTransitKeyRequest"] | components["schemas"]["CreateTurnkeyKeyRequest"];
        /** New key in AWS KMS */
        readonly CreateAwsKmsKeyRequest: {
            readonly signer_id: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "aws_kms";
            readonly curve: components["schemas"]["KeyCurve"];
            /** @description The place of the key. The credentials are those of the service. */
            readonly config: {
                readonly region: components["schemas"]["CreateAwsKmsSignerRequest"]["config"]["region"];
            };
        };
        /** New key in Google Cloud KMS */
        readonly CreateGoogleCloudKmsKeyRequest: {
            readonly signer_id: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "google_cloud_kms";
            readonly curve: components["schemas"]["KeyCurve"];
            /** @description The place of the key. Without `service_account` the credentials are those of the service. */
            readonly config: {
                readonly service_account?: components["schemas"]["GoogleServiceAccount"];
                /** @description The key ring, which must exist. */
                readonly key: {
                    readonly project_id?: components["schemas"]["CreateGoogleCloudKmsSignerRequest"]["config"]["key"]["project_id"];
                    readonly location?: components["schemas"]["CreateGoogleCloudKmsSignerRequest"]["config"]["key"]["location"];
                    readonly key_ring_id: components["schemas"]["CreateGoogleCloudKmsSignerRequest"]["config"]["key"]["key_ring_id"];
                    /**
                     * @description `HSM` by default. `SOFTWARE` only for `ed25519`.
                     * @enum {string}
                     */
                    readonly protection_level?: "HSM" | "SOFTWARE";
                };
            };
        };
        /** New key in Azure Key Vault */
        readonly CreateAzureKeyVaultKeyRequest: {
            readonly signer_id: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "azure_key_vault";
            readonly curve: components["schemas"]["KeyCurve"];
            /** @description The vault and the login. */
            readonly config: {
                readonly auth_type?: components["schemas"]["CreateAzureKeyVaultSignerRequest"]["config"]["auth_type"];
                readonly vault_url: components["schemas"]["CreateAzureKeyVaultSignerRequest"]["config"]["vault_url"];
                /** @description The tenant. */
                readonly tenant_id?: components["schemas"]["AzureName"];
                /** @description The application, or one of several identities of the machine. */
                readonly client_id?: components["schemas"]["AzureName"];
                /** @description The secret of the application. Never returned. */
                readonly client_secret?: components["schemas"]["SignerText"];
                /** @description True for a key in hardware. Needs the tier Premium; a Managed HSM has no others. */
                readonly hardware?: boolean;
            };
        };
        /** New key in Vault's transit engine */
        readonly CreateVaultTransitKeyRequest: {
            readonly signer_id: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "vault_transit";
            readonly curve: components["schemas"]["KeyCurve"];
            /** @description The engine and the login by AppRole. */
            readonly config: {
                readonly address: components["schemas"]["VaultAddress"];
                /** @description The namespace. None by default. */
                readonly namespace?: components["schemas"]["SignerText"];
                /** @description The role of the login. Never returned. */
                readonly role_id: components["schemas"]["SignerText"];
                /** @description The secret of the login. Never returned. */
                readonly secret_id: components["schemas"]["SignerText"];
                /** @description The mount of the engine. `transit` by default. */
                readonly mount_point?: components["schemas"]["SignerText"];
                /** @description Whether Vault may ever hand out the key. False by default; it cannot be changed back. */
                readonly exportable?: boolean;
            };
        };
        /** New private key in Turnkey */
        readonly CreateTurnkeyKeyRequest: {
            readonly signer_id: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "turnkey";
            readonly curve: components["schemas"]["KeyCurve"];
            /** @description The organization, and the API key. */
            readonly config: {
                readonly api_public_key: components["schemas"]["CreateTurnkeySignerRequest"]["config"]["api_public_key"];
                /** @description The private part of the API key. Never returned. */
                readonly api_private_key: string;
                readonly organization_id: components["schemas"]["CreateTurnkeySignerRequest"]["config"]["organization_id"];
            };
        };
        /** Key that the service creates */
        readonly CreateGeneratedSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "generated";
            /** @description Empty. */
            readonly config?: Record<string, never>;
        };
        /** Generated signer */
        readonly GeneratedSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "generated";
            /** @description The accounts of the key. */
            readonly config: {
                /** @description The address on each network type, each of a key of its own. */
                readonly addresses: {
                    /** @description On EVM networks. */
                    readonly evm: components["schemas"]["EvmAddress"];
                    /** @description On Solana. */
                    readonly solana: components["schemas"]["SolanaPublicKey"];
                    /** @description On Stellar. */
                    readonly stellar: components["schemas"]["StellarAccount"];
                };
            };
        };
        /** Private key */
        readonly CreatePlainSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "plain";
            /** @description The key. */
            readonly config: {
                /**
                 * @description The private key: 64 hex digits with or without `0x`, a Stellar secret seed (`S…`), or a Solana key pair (64 bytes in base58 or as a
                 *     JSON list, as a text). Never returned.
                 */
                readonly key: string;
            };
        };
        /** Local signer */
        readonly LocalSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "local";
            /** @description Empty. */
            readonly config: Record<string, never>;
        };
        /** Account of a seed phrase */
        readonly CreateMnemonicSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "mnemonic";
            /**
             * @description One account of a seed phrase. The paths are those of wallets: m/44'/60'/0'/0/index for EVM, m/44'/148'/index' for Stellar and
             *     m/44'/501'/index'/0' for Solana.
             */
            readonly config: {
                /** @description 12 to 24 words of the English list of BIP-39. Never returned. */
                readonly mnemonic: string;
                /** @description The passphrase of the seed, sometimes called the 25th word. None by default. Never returned. */
                readonly passphrase?: string;
                /** @description The account. 0 by default. */
                readonly index?: number;
            };
        };
        /** Seed phrase signer */
        readonly MnemonicSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "mnemonic";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The account of the seed phrase. */
                readonly index: number;
            };
        };
        /** Key of AWS KMS */
        readonly CreateAwsKmsSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "aws_kms";
            /**
             * @description An asymmetric key for signing, of the specification `ECC_SECG_P256K1` (EVM) or `ECC_NIST_EDWARDS25519` (Stellar, Solana). The credentials
             *     are those of the service: the default chain of AWS.
             */
            readonly config: {
                /** @description The region of the key. */
                readonly region: string;
                /** @description The id, the ARN or the alias (`alias/…`) of the key. */
                readonly key_id: string;
            };
        };
        /** AWS KMS signer */
        readonly AwsKmsSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "aws_kms";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The region of the key. */
                readonly region: string;
                /** @description The id, the ARN or the alias (`alias/…`) of the key. */
                readonly key_id: string;
            };
        };
        /** Key of Google Cloud KMS */
        readonly CreateGoogleCloudKmsSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "google_cloud_kms";
            /**
             * @description One version of an asymmetric key for signing, of the algorithm `EC_SIGN_SECP256K1_SHA256` (EVM) or `EC_SIGN_ED25519` (Stellar, Solana).
             *     Without `service_account` the credentials are those of the service: the application default credentials of Google Cloud, which include
             *     workload identity.
             */
            readonly config: {
                readonly service_account?: components["schemas"]["GoogleServiceAccount"];
                /** @description The version of the key. */
                readonly key: {
                    /** @description The project. By default that of the service account; required without one. */
                    readonly project_id?: string;
                    /** @description The location of the key ring. `global` by default. */
                    readonly location?: string;
                    /** @description The key ring. */
                    readonly key_ring_id: string;
                    /** @description The key. */
                    readonly key_id: string;
                    /** @description The version. 1 by default. */
                    readonly key_version?: number;
                };
            };
        };
        /** Google Cloud KMS signer */
        readonly GoogleCloudKmsSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "google_cloud_kms";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The version of the key. */
                readonly key: {
                    /** @description The project. */
                    readonly project_id: string;
                    /** @description The location of the key ring. */
                    readonly location: string;
                    /** @description The key ring. */
                    readonly key_ring_id: string;
                    /** @description The key. */
                    readonly key_id: string;
                    /** @description The version. */
                    readonly key_version: number;
                };
            };
        };
        /** @description A text that is not empty. */
        readonly SignerText: string;
        /** @description The key file of a service account, as Google writes it. Never returned. Fields that are not described have no effect. */
        readonly GoogleServiceAccount: {
            /** @description The project of the account. */
            readonly project_id: components["schemas"]["SignerText"];
            /** @description The id of the key. */
            readonly private_key_id: components["schemas"]["SignerText"];
            /** @description The private key of RSA in PEM. */
            readonly private_key: string;
            /** @description The name of the account. */
            readonly client_email: components["schemas"]["SignerText"];
            /**
             * @description The URL that issues access tokens. `https://oauth2.googleapis.com/token` by default. It must not lead to a private network, unless the
             *     deployment allows it.
             */
            readonly token_uri?: string;
            /** @description The domain of the services. `googleapis.com` by default. */
            readonly universe_domain?: string;
            /** @description Not used. */
            readonly client_id?: string;
            /** @description Not used. */
            readonly auth_uri?: string;
            /** @description Not used. */
            readonly auth_provider_x509_cert_url?: string;
            /** @description Not used. */
            readonly client_x509_cert_url?: string;
            /** @description Not used; key files have it. */
            readonly type?: string;
        };
        /** Key of Azure Key Vault */
        readonly CreateAzureKeyVaultSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "azure_key_vault";
            /**
             * @description A key of the type EC and the curve P-256K, which is secp256k1 (EVM), in Azure Key Vault or Managed HSM. `client_secret` needs `tenant_id`,
             *     `client_id` and `client_secret`; the other logins are those of the service itself.
             */
            readonly config: {
                /**
                 * @description How to log in. `client_secret` by default.
                 * @enum {string}
                 */
                readonly auth_type?: "client_secret" | "managed_identity" | "workload_identity";
                /** @description The url of the vault, in one of Azure's clouds. */
                readonly vault_url: string;
                /** @description The name of the key. */
                readonly key_name: components["schemas"]["AzureName"];
                /** @description The version of the key. The newest by default. */
                readonly key_version?: components["schemas"]["AzureName"];
                /** @description The tenant. */
                readonly tenant_id?: components["schemas"]["AzureName"];
                /** @description The application, or one of several identities of the machine. */
                readonly client_id?: components["schemas"]["AzureName"];
                /** @description The secret of the application. Never returned. */
                readonly client_secret?: components["schemas"]["SignerText"];
            };
        };
        /** Azure Key Vault signer */
        readonly AzureKeyVaultSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "azure_key_vault";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description How to log in. */
                readonly auth_type: string;
                /** @description The url of the vault, in one of Azure's clouds. */
                readonly vault_url: string;
                /** @description The name of the key. */
                readonly key_name: string;
                /** @description The version of the key; absent for the newest. */
                readonly key_version?: string;
            };
        };
        /** @description A name of Azure. */
        readonly AzureName: string;
        /** Key of Turnkey */
        readonly CreateTurnkeySignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "turnkey";
            /** @description A private key or a wallet account of secp256k1 (EVM) or Ed25519 (Stellar, Solana). */
            readonly config: {
                /** @description The public part of the API key, of P-256. */
                readonly api_public_key: string;
                /** @description The private part of the API key. Never returned. */
                readonly api_private_key: string;
                /** @description The organization. */
                readonly organization_id: components["schemas"]["SignerText"];
                /** @description The private key, or the address of the wallet account. */
                readonly private_key_id: components["schemas"]["SignerText"];
                /** @description The public key, 32 bytes for Ed25519, 33 or 65 for secp256k1. */
                readonly public_key: string;
            };
        };
        /** Turnkey signer */
        readonly TurnkeySigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "turnkey";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The public part of the API key, of P-256. */
                readonly api_public_key: string;
                /** @description The organization. */
                readonly organization_id: string;
                /** @description The private key, or the address of the wallet account. */
                readonly private_key_id: string;
                /** @description The public key, 32 bytes for Ed25519, 33 or 65 for secp256k1. */
                readonly public_key: string;
            };
        };
        /** Account of the Coinbase Developer Platform */
        readonly CreateCdpSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "cdp";
            /** @description An EVM or a Solana account. A Solana account signs only transactions and texts on Solana. */
            readonly config: {
                /** @description The API key. */
                readonly api_key_id: components["schemas"]["SignerText"];
                /** @description The secret of the API key, 64 bytes of Ed25519 in base64 or a key of P-256 in PEM. Never returned. */
                readonly api_key_secret: components["schemas"]["SignerText"];
                /** @description The wallet secret. Never returned. */
                readonly wallet_secret: components["schemas"]["SignerText"];
                /** @description The address of the account. */
                readonly account_address: string;
            };
        };
        /** CDP signer */
        readonly CdpSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "cdp";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The API key. */
                readonly api_key_id: string;
                /** @description The address of the account. */
                readonly account_address: string;
            };
        };
        /**
         * @description The url of HashiCorp Vault or OpenBao. It must not lead to a private network, unless the deployment allows it; the configuration file may name
         *     any.
         */
        readonly VaultAddress: string;
        /** Private key in Vault */
        readonly CreateVaultSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "vault";
            /** @description A secret of the KV engine, version 2, whose field `value` is a private key. The service logs in by AppRole. */
            readonly config: {
                readonly address: components["schemas"]["VaultAddress"];
                /** @description The namespace. None by default. */
                readonly namespace?: components["schemas"]["SignerText"];
                /** @description The role of the login. Never returned. */
                readonly role_id: components["schemas"]["SignerText"];
                /** @description The secret of the login. Never returned. */
                readonly secret_id: components["schemas"]["SignerText"];
                /** @description The path of the secret below the mount. */
                readonly key_name: components["schemas"]["SignerText"];
                /** @description The mount of the engine. `secret` by default. */
                readonly mount_point?: components["schemas"]["SignerText"];
            };
        };
        /** Vault signer */
        readonly VaultSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "vault";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description Scheme, host and port of the server. */
                readonly address: string;
                /** @description The namespace; absent for none. */
                readonly namespace?: string;
                /** @description The path of the secret below the mount. */
                readonly key_name: string;
                /** @description The mount of the engine. */
                readonly mount_point: string;
            };
        };
        /** Key of Vault's transit engine */
        readonly CreateVaultTransitSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "vault_transit";
            /** @description A key of the type `ed25519` (Stellar, Solana). The service logs in by AppRole. */
            readonly config: {
                readonly address: components["schemas"]["VaultAddress"];
                /** @description The namespace. None by default. */
                readonly namespace?: components["schemas"]["SignerText"];
                /** @description The role of the login. Never returned. */
                readonly role_id: components["schemas"]["SignerText"];
                /** @description The secret of the login. Never returned. */
                readonly secret_id: components["schemas"]["SignerText"];
                /** @description The name of the key. */
                readonly key_name: components["schemas"]["SignerText"];
                /** @description The mount of the engine. `transit` by default. */
                readonly mount_point?: components["schemas"]["SignerText"];
                /** @description The public key, 32 bytes in base64. It selects the version of the key. */
                readonly pubkey: string;
            };
        };
        /** Vault transit signer */
        readonly VaultTransitSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "vault_transit";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description Scheme, host and port of the server. */
                readonly address: string;
                /** @description The namespace; absent for none. */
                readonly namespace?: string;
                /** @description The name of the key. */
                readonly key_name: string;
                /** @description The mount of the engine. */
                readonly mount_point: string;
                /** @description The public key, 32 bytes in base64. */
                readonly pubkey: string;
            };
        };
        /** Key of Web3Signer */
        readonly CreateWeb3SignerSignerRequest: {
            readonly id?: components["schemas"]["NewId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "web3signer";
            /**
             * @description A key of secp256k1 (EVM) behind the execution-layer API of Web3Signer (`/api/v1/eth1`). A client certificate needs files, which only the
             *     configuration file can name (`tls`).
             */
            readonly config: {
                /** @description The url of the server. It must not lead to a private network, unless the deployment allows it; the configuration file may name any. */
                readonly url: string;
                /** @description The public key as Web3Signer lists it, 128 hex digits with or without `0x`. */
                readonly public_key: string;
            };
        };
        /** Web3Signer signer */
        readonly Web3SignerSigner: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "web3signer";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description Scheme, host and port of the server. */
                readonly url: string;
                /** @description The public key, 0x and 128 hex digits. */
                readonly public_key: string;
            };
        };
        /** HSM signer */
        readonly Pkcs11Signer: {
            readonly id: components["schemas"]["Id"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "pkcs11";
            /** @description The part of the configuration that may be shown. */
            readonly config: {
                /** @description The label of the token; or its slot. */
                readonly token_label?: string;
                /** @description The slot of the token. */
                readonly slot?: number;
                /** @description The label of the key pair; or its id. */
                readonly key_label?: string;
                /** @description The CKA_ID of the key pair as hex digits. */
                readonly key_id?: string;
            };
        };
        /** @description A chain and its endpoints. Fields that do not apply are omitted. */
        readonly Network: {
            /**
             * @description Type and name, joined by a colon.
             * @example evm:sepolia
             */
            readonly id: string;
            /** @description The name by which relayers refer to it in `network`; unique within its type. */
            readonly name: string;
            readonly network_type: components["schemas"]["NetworkType"];
            /** @description The endpoints that the service uses now. Empty if there are none yet. */
            readonly rpc_urls: readonly components["schemas"]["RpcUrl"][];
            /** @description EVM: the endpoints that receive the bytes of private transactions, and nothing else. Relayers with `private_transactions` need one. */
            readonly private_rpc_urls?: readonly components["schemas"]["PrivateRpcUrl"][];
            /** @description Explorers of the network, for people. */
            readonly explorer_urls?: readonly string[];
            /** @description Expected time between blocks, in milliseconds. */
            readonly average_blocktime_ms: number;
            /** @description Its newest block. Absent if no relayer uses the network. */
            readonly head?: components["schemas"]["NetworkHead"];
            /** @description True if its money is worthless. */
            readonly is_testnet: boolean;
            /** @description The tokens that the operator names. Transfers of them have their symbol and decimals. */
            readonly tokens?: readonly components["schemas"]["Token"][];
            /** @description Particular traits, in the words of the configuration: `arbitrum-based`, `rollup`, `blocks-on-demand` … */
            readonly tags?: readonly string[];
            /** @description EVM: the chain id. */
            readonly chain_id?: number;
            /** @description EVM: the number of blocks that must be on top of the including one before a transaction is `confirmed`. Applies if `finality` is `depth`. */
            readonly required_confirmations?: number;
            /**
             * @description EVM: when a transaction is `confirmed`.
             *     - `depth`: `required_confirmations` blocks are on top of its block.
             *     - `safe`, `finalized`: the nodes' block tag of this name includes it. On rollups, `safe` blocks are on the parent chain and `finalized`
             *       ones final there.
             * @enum {string}
             */
            readonly finality?: "depth" | "safe" | "finalized";
            /** @description EVM: the maximum gas limit of a transaction, if it is below the block gas limit (EIP-7825). The service keeps estimates below it. */
            readonly max_gas_per_transaction?: number;
            /** @description EVM: the most that one transaction may cost in fees, in wei. The policy of the same name overrides it. */
            readonly tx_fee_cap?: components["schemas"]["DecimalString"];
            /** @description EVM: the lowest tip that the pools of the network accept, in wei per gas, where it is known. */
            readonly min_priority_fee?: components["schemas"]["DecimalString"];
            /** @description EVM. `eip1559`: blocks have a base fee. */
            readonly features?: readonly "eip1559"[];
            /** @description EVM: the symbol of its native currency. */
            readonly symbol?: string;
            /** @description Stellar: the passphrase, which is part of everything that is signed and identifies the network. */
            readonly passphrase?: string;
            /** @description Solana: the hash of the genesis block in base58, which identifies the cluster. */
            readonly genesis_hash?: string;
        };
        /** @description A token that the operator names in the configuration. */
        readonly Token: {
            /** @description The address (EVM, in lower case), mint (Solana), contract (Stellar), or `CODE:ISSUER`. */
            readonly address: string;
            /** @description What people call it. */
            readonly symbol: string;
            /** @description The number of digits after the point of one whole unit. */
            readonly decimals: number;
        };
        /** @description The new endpoints of a network. An omitted list stays the same. */
        readonly UpdateNetworkRequest: {
            /** @description All new endpoints, each a URL or a URL with a weight. At least one must have a weight above 0. */
            readonly rpc_urls?: readonly components["schemas"]["GivenRpcUrl"][];
            /**
             * @description EVM: all new private endpoints, each a URL or a URL with a method. With an empty list the network has none, and its private transactions
             *     wait.
             */
            readonly private_rpc_urls?: readonly components["schemas"]["GivenPrivateRpcUrl"][];
        };
        /** @description One private endpoint, as its URL, or its URL with a method. */
        readonly GivenPrivateRpcUrl: components["schemas"]["RpcEndpointUrl"] | components["schemas"]["PrivateRpcUrlWithMethod"];
        /** @description One private endpoint with its method. */
        readonly PrivateRpcUrlWithMethod: {
            readonly url: components["schemas"]["RpcEndpointUrl"];
            readonly method?: components["schemas"]["PrivateMethod"];
        };
        /**
         * @description The JSON-RPC method that sends signed bytes to the endpoint: `eth_sendRawTransaction` (the default), or `eth_sendPrivateTransaction`, whose
         *     parameter is an object with the bytes in `tx`.
         * @default eth_sendRawTransaction
         * @enum {string}
         */
        readonly PrivateMethod: "eth_sendRawTransaction" | "eth_sendPrivateTransaction";
        /** @description One private endpoint of a network. */
        readonly PrivateRpcUrl: {
            /**
             * @description Only scheme and host: the rest of the url is a secret.
             * @example https://private-rpc.example/***
             */
            readonly url: string;
            readonly method: components["schemas"]["PrivateMethod"];
        };
        /** @description One endpoint, as its URL, or its URL with a weight. */
        readonly GivenRpcUrl: components["schemas"]["RpcEndpointUrl"] | components["schemas"]["WeightedRpcUrl"];
        /** @description One endpoint with its weight. */
        readonly WeightedRpcUrl: {
            readonly url: components["schemas"]["RpcEndpointUrl"];
            /**
             * @description The share of requests, which is the endpoint's weight divided by the sum of all. 0 is never used. 100 by default.
             * @default 100
             */
            readonly weight: number;
        };
        /**
         * @description A full `http://` or `https://` URL.
         * @example https://rpc.example/v2/key
         */
        readonly RpcEndpointUrl: string;
        /** @description A new notification. */
        readonly CreateNotificationRequest: {
            readonly id?: components["schemas"]["NewId"];
            /** @default webhook */
            readonly type: components["schemas"]["NotificationType"];
            /**
             * @description The destination. `webhook`, `slack`: required, an `http://` or `https://` URL. `pagerduty`, `opsgenie`: that of the service in your
             *     region; by default `https://events.pagerduty.com` and `https://api.opsgenie.com`. `email`: required, `mailto:` and up to 20 addresses
             *     with commas.
             */
            readonly url?: string;
            /** @description Signs the deliveries of a webhook. Never returned. */
            readonly signing_key?: string;
            /** @description Required for `pagerduty` (routing key) and `opsgenie` (API key). Never returned. */
            readonly integration_key?: string;
            readonly alerts?: components["schemas"]["AlertKinds"];
            readonly transactions?: components["schemas"]["NotificationTransactions"];
        };
        /**
         * @description A webhook with it gets the events of the transactions that have this `reference` and were requested by this API key, in place of the
         *     `notification_id` of their relayer: one for each customer, payee or batch. No two notifications have the same. No one but the holder of the
         *     key can make such transactions, so the receiver knows who names them.
         */
        readonly NotificationTransactions: {
            /** @description Their `reference`. */
            readonly reference: string;
            /** @description The id of the API key that requests them, such as `shop`; `root`, or `plugin.` and the id of a plugin. */
            readonly requested_by: components["schemas"]["Id"];
        };
        /**
         * @description How events are delivered. `webhook`: all events of the relayers that name it, as signed POST requests · `slack`, `pagerduty`, `opsgenie`,
         *     `email`: alerts and tests, in the form of the service.
         * @enum {string}
         */
        readonly NotificationType: "webhook" | "slack" | "pagerduty" | "opsgenie" | "email";
        /** @description The alerts that it gets; all if absent. A webhook has none. */
        readonly AlertKinds: readonly components["schemas"]["AlertKind"][];
        /** @description The changes, as a JSON merge patch (RFC 7396). */
        readonly UpdateNotificationRequest: {
            /** @description That of the notification: it stays. */
            readonly type?: components["schemas"]["NotificationType"];
            /**
             * @description The destination. `webhook`, `slack`: required, an `http://` or `https://` URL. `pagerduty`, `opsgenie`: that of the service in your
             *     region; by default `https://events.pagerduty.com` and `https://api.opsgenie.com`. `email`: required, `mailto:` and up to 20 addresses
             *     with commas.
             */
            readonly url?: string;
            /** @description Required for `pagerduty` (routing key) and `opsgenie` (API key). Never returned. */
            readonly integration_key?: string;
            /** @description The alerts that it gets; null for all. */
            readonly alerts?: readonly components["schemas"]["AlertKind"][] | null;
            /** @description The transactions that it tells about; null for those of the relayers that name it. */
            readonly transactions?: components["schemas"]["NotificationTransactions"] | null;
            /** @description The new and only key, of 32 to 512 characters; null, or an empty text, for none. Never returned. */
            readonly signing_key?: string | null;
        };
        /** @description A destination for events. */
        readonly Notification: {
            readonly id: components["schemas"]["Id"];
            readonly type: components["schemas"]["NotificationType"];
            /**
             * @description The destination of events, without secrets: a URL of the configuration file or of Slack is cut to scheme and host
             *     (`https://example.com/***`), and a caller's other URL loses user information, query and fragment (`https://***@example.com/hook?***`).
             */
            readonly url: string;
            /** @description True if deliveries are signed. The key is never returned. */
            readonly has_signing_key: boolean;
            readonly alerts?: components["schemas"]["AlertKinds"];
            readonly transactions?: components["schemas"]["NotificationTransactions"];
            /**
             * @description True while the service sends it nothing. Absent otherwise.
             * @constant
             */
            readonly paused?: true;
            /**
             * @description `operator`: a caller paused it · `gone`: the receiver answered with 410. Absent if it is not paused.
             * @enum {string}
             */
            readonly paused_reason?: "operator" | "gone";
        };
        readonly EventListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The events after the cursor, the oldest first. */
            readonly data: readonly components["schemas"]["Event"][];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly DeliveryListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Delivery"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly DeliveryResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeliveryWithExchange"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly RedeliverManyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["RedeliveryCount"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly TestEventResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TestEvent"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NotificationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Notification"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly SigningKeyRotationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["SigningKeyRotation"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description A UUID. */
        readonly Uuid: string;
        /**
         * @description Position in the event log, in decimal digits. Numbers grow in the order in which events become readable. They can have gaps: a missing number
         *     was never an event that you could read, so continue after the last number that you have. No number is used twice, even by a database restored
         *     from a backup, or a standby without its last commits: each start of the service, and each promotion of a PostgreSQL server, continues at the
         *     current time in microseconds.
         */
        readonly EventNumber: string;
        /**
         * @description `awaiting_approval`: another key has to approve it first (`decideSchedule`). `paused`: by a caller, or by the service, which says why.
         *     `completed`: no time is left, or `max_runs` is reached.
         * @enum {string}
         */
        readonly ScheduleState: "active" | "paused" | "awaiting_approval" | "completed";
        /** @description A name for people. */
        readonly ScheduleName: string;
        /**
         * @description Minute, hour, day of month, month and day of week, as in `0 9 25 * *`. `L`, `W` and `#` are known, seconds are not: once a minute is the most.
         *     If day of month and day of week are both given, either is enough; `+` before the day of week requires both.
         */
        readonly CronExpression: string;
        /** @description A time zone of the IANA database, which decides about daylight saving time. */
        readonly TimeZone: string;
        /**
         * @description What happens to times of more than a minute ago, after the service was down. `skip`: nothing. `once`: one run, for the newest of them. `all`:
         *     a run for each of the newest ten; needs `overlap: allow`.
         * @enum {string}
         */
        readonly MissedRuns: "skip" | "once" | "all";
        /**
         * @description What happens when the transaction of the run before is not final: `skip` leaves the time out.
         * @enum {string}
         */
        readonly ScheduleOverlap: "allow" | "skip";
        /**
         * @description Where rules require an approval: `each_run` waits for one, or, with `once`, the schedule waits for one and its runs do not.
         * @enum {string}
         */
        readonly ScheduleApproval: "each_run" | "once";
        /** @description The time from a run until its transaction expires, as `valid_until` of a request. */
        readonly ValidForSeconds: number;
        /** @description The schedule is over after this many transactions. */
        readonly MaxRuns: number;
        readonly CreateScheduleRequest: {
            readonly name?: components["schemas"]["ScheduleName"];
            readonly cron: components["schemas"]["CronExpression"];
            /** @description The time zone of the expression. Default: `UTC`. */
            readonly timezone?: components["schemas"]["TimeZone"];
            /**
             * @description What each run sends, as in `sendTransaction`, without `valid_from`, `valid_until`, `after` and `idempotency_key`, and not signed by
             *     others.
             */
            readonly transaction: components["schemas"]["TransactionRequest"];
            readonly valid_for_seconds?: components["schemas"]["ValidForSeconds"];
            /** @description Default: `once`. */
            readonly missed?: components["schemas"]["MissedRuns"];
            /** @description Default: `skip`. */
            readonly overlap?: components["schemas"]["ScheduleOverlap"];
            /** @description Default: `each_run`. */
            readonly approval?: components["schemas"]["ScheduleApproval"];
            /**
             * Format: date-time
             * @description No time after this one counts (RFC 3339).
             */
            readonly ends_at?: string;
            readonly max_runs?: components["schemas"]["MaxRuns"];
        };
        readonly UpdateScheduleRequest: {
            readonly name?: components["schemas"]["ScheduleName"] | null;
            readonly cron?: components["schemas"]["CronExpression"];
            readonly timezone?: components["schemas"]["TimeZone"];
            readonly transaction?: components["schemas"]["TransactionRequest"];
            readonly valid_for_seconds?: components["schemas"]["ValidForSeconds"] | null;
            readonly missed?: components["schemas"]["MissedRuns"];
            readonly overlap?: components["schemas"]["ScheduleOverlap"];
            readonly approval?: components["schemas"]["ScheduleApproval"];
            /**
             * Format: date-time
             * @description No time after this one counts (RFC 3339).
             */
            readonly ends_at?: string | null;
            readonly max_runs?: components["schemas"]["MaxRuns"] | null;
            /** @description True pauses it; false resumes it. */
            readonly paused?: boolean;
        };
        readonly ScheduleDecision: {
            /**
             * @description `approve` lets it run; `refuse` pauses it.
             * @enum {string}
             */
            readonly decision: "approve" | "refuse";
            /** @description The version that is decided about, as `getSchedule` showed it. */
            readonly version: number;
            /** @description A comment for the record, without control characters. */
            readonly reason?: string;
        };
        /** @description A transaction that is sent again and again. */
        readonly Schedule: {
            readonly id: components["schemas"]["Id"];
            readonly relayer_id: components["schemas"]["Id"];
            readonly name?: components["schemas"]["ScheduleName"];
            readonly state: components["schemas"]["ScheduleState"];
            /** @description Why it is in this state. */
            readonly state_reason?: string;
            readonly cron: components["schemas"]["CronExpression"];
            readonly timezone: components["schemas"]["TimeZone"];
            /** @description What each run sends, with calls by name encoded. */
            readonly transaction: components["schemas"]["TransactionRequest"];
            readonly valid_for_seconds?: components["schemas"]["ValidForSeconds"];
            readonly missed: components["schemas"]["MissedRuns"];
            readonly overlap: components["schemas"]["ScheduleOverlap"];
            readonly approval: components["schemas"]["ScheduleApproval"];
            /** @description What the approval is about, or was. */
            readonly approval_reasons?: readonly string[];
            /** @description The id of the API key or person that approved it. */
            readonly approved_by?: string;
            readonly ends_at?: components["schemas"]["Timestamp"];
            readonly max_runs?: components["schemas"]["MaxRuns"];
            /** @description In whose name it sends: the id of an API key, or `root`. */
            readonly api_key_id: string;
            /** @description The `User-Id` with which it was created or changed. */
            readonly user_id?: string;
            /** @description Every change of a caller increments it. */
            readonly version: number;
            /** @description The next time; present while it is active. */
            readonly next_at?: components["schemas"]["Timestamp"];
            /** @description The newest time that was decided. */
            readonly last_at?: components["schemas"]["Timestamp"];
            /** @description The number of transactions that it has sent. */
            readonly runs: number;
            readonly last_transaction_id?: components["schemas"]["Id"];
            /**
             * @description The most that a run takes from the account, value and fee, in the smallest unit, at the prices when one was last priced. Absent if no node
             *     has told them yet.
             */
            readonly max_cost_per_run?: string;
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When a caller changed it last. */
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        /** @description What became of a time of a schedule. */
        readonly ScheduleRun: {
            /** @description The time; of several, the first one. */
            readonly scheduled_at: components["schemas"]["Timestamp"];
            /**
             * @description `sent` as a transaction, `refused` as a request would be, or `skipped`.
             * @enum {string}
             */
            readonly outcome: "sent" | "refused" | "skipped";
            readonly decided_at: components["schemas"]["Timestamp"];
            readonly transaction_id?: components["schemas"]["Id"];
            /** @description Why it was refused. */
            readonly code?: components["schemas"]["ErrorCode"];
            /** @description Why nothing was sent, in a sentence. */
            readonly reason?: string;
            /** @description The times that it stands for. Many that were missed are one entry; at most 100 are counted. */
            readonly times: number;
        };
        readonly ScheduleListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Schedule"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ScheduleResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Schedule"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * Dry run of a schedule
         * @description What a schedule would do. Nothing was stored.
         */
        readonly ScheduleDryRun: {
            /** @constant */
            readonly dry_run: true;
            /** @description The state in which it would begin. */
            readonly state: components["schemas"]["ScheduleState"];
            /** @description Its first times; at most ten. */
            readonly next_runs: readonly components["schemas"]["Timestamp"][];
            /** @description What would happen to a run now. */
            readonly run: components["schemas"]["DryRun"];
        };
        readonly ScheduleOrDryRunResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Schedule"] | components["schemas"]["ScheduleDryRun"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ScheduleRunListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["ScheduleRun"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly NextRunsResponse: {
            /** @constant */
            readonly success: true;
            /** @description The times, the earliest first. */
            readonly data: readonly components["schemas"]["Timestamp"][];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description Something became of a schedule. A run that was sent has the events of its transaction instead. */
        readonly SchedulePayload: {
            /** @constant */
            readonly payload_type: "schedule";
            readonly schedule_id: components["schemas"]["Id"];
            readonly relayer_id: components["schemas"]["Id"];
            readonly name?: components["schemas"]["ScheduleName"];
            /**
             * @description `run`: a time was refused or skipped.
             * @enum {string}
             */
            readonly change: "created" | "changed" | "paused" | "approved" | "refused" | "run" | "completed" | "deleted";
            readonly state: components["schemas"]["ScheduleState"];
            /** @description Why it is in this state. */
            readonly state_reason?: string;
            readonly next_at?: components["schemas"]["Timestamp"];
            readonly run?: components["schemas"]["ScheduleRun"];
        };
        /** @description The body of a delivery about a schedule. */
        readonly ScheduleUpdateWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /** @constant */
            readonly event: "schedule_update";
            readonly payload: components["schemas"]["SchedulePayload"];
            /** @description When it happened. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /**
         * @description - `transaction_update`: the status of a transaction has changed, or it has a new attempt.
         *     - `transaction_undecided`: nothing proves what happened to the transaction. No endpoint can prove any more whether a block included it, or one
         *       that could has not answered for 15 minutes; or the endpoints contradict each other about the result of a mined transaction. Nothing is
         *       signed or ended until the endpoints agree, or an operator decides (`decideTransaction`, `relayer tx decide`).
         *     - `transaction_stuck`: the transaction has been the first of its account's queue for 15 minutes, or for a few minutes in which the nodes
         *       refuse everything with its nonce in unknown wording; `status_reason` and the diagnosis say why. If it has no nonce yet, others now overtake
         *       it. If it has one, it blocks them for at most another day; then a no-op uses the nonce, and the transaction ends as `failed`.
         *     - `transaction_reorganized`: the block of a confirmed transaction is no longer in the chain. The reorganisation was deeper than the network's
         *       finality setting allows for.
         *     - `relayer_state_update`: the service disabled or enabled a relayer.
         *     - `schedule_update`: a schedule has changed, or one of its times was refused or skipped.
         *     - `alert`: an alert began or ended; see `AlertKind`.
         *     - `notification_test`: a test event was requested.
         * @enum {string}
         */
        readonly EventType: "transaction_update" | "transaction_undecided" | "transaction_stuck" | "transaction_reorganized" | "relayer_state_update" | "schedule_update" | "alert" | "notification_test";
        /** @description An entry of the event log. */
        readonly Event: {
            readonly number: components["schemas"]["EventNumber"];
            /** @description The same as `id` and `webhook-id` of deliveries. */
            readonly id: components["schemas"]["Uuid"];
            readonly type: components["schemas"]["EventType"];
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description Absent for test events, and for alerts that are not about one relayer. */
            readonly relayer_id?: components["schemas"]["Id"];
            /** @description Absent if the event is not about a transaction. */
            readonly transaction_id?: components["schemas"]["Id"];
            readonly payload: components["schemas"]["EventPayload"];
        };
        readonly AuditListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The entries, the newest first. */
            readonly data: readonly components["schemas"]["AuditEntry"][];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The chain of an entry, a slash, and its number. */
        readonly AuditEntryId: string;
        /**
         * @description The `operationId` of the operation that changed something or signed, or one of these:
         *
         *     - `undoReplacement`: the nodes refused a replacement or cancellation, or it came too late, so the transaction got its earlier content back.
         *     - `applyConfiguration`: a start applied a change of the configuration file.
         *     - `expireApproval`: a transaction that waited for an approval was not decided in time.
         *     - `changeStorageKey`: an operator used `relayer change-storage-key`.
         *     - `signIn`: a person signed in.
         *     - `proposeChange`: a person proposed a change; `bypassSecondPerson`: the key of the environment changed something without a second person.
         */
        readonly AuditAction: string;
        /**
         * @description The kind of a record. `deployment` is the deployment as a whole; the id is the name of a setting.
         * @enum {string}
         */
        readonly AuditTargetType: "relayer" | "signer" | "notification" | "network" | "transaction" | "schedule" | "api_key" | "plugin" | "session" | "proposal" | "deployment";
        /** @description The fields of a record. Large integers are decimal strings. */
        readonly AuditedRecord: {
            readonly [key: string]: unknown;
        };
        /** @description Who did what, when, from where. */
        readonly AuditEntry: {
            readonly id: components["schemas"]["AuditEntryId"];
            /** @description `management`, or `relayer:`, the id of the relayer and, for a further account, `/` and its address. */
            readonly chain: string;
            /** @description The position in its chain, in decimal digits, from 1, without gaps. */
            readonly number: string;
            readonly at: components["schemas"]["Timestamp"];
            /** @description The id of the API key or person, `root` for the key of the environment, `configuration`, `service`, or `operator`. */
            readonly actor: string;
            /** @description The person, if one was signed in. */
            readonly person?: components["schemas"]["Person"];
            /** @description The address of the caller; of IPv6 the network of 64 bits. Absent without a request. */
            readonly address?: string;
            /** @description The `X-Request-Id` of the request. Absent without one. */
            readonly request_id?: string;
            readonly action: components["schemas"]["AuditAction"];
            readonly target_type: components["schemas"]["AuditTargetType"];
            /** @description The id of the record. */
            readonly target_id: string;
            /** @description The changed fields as they were, or the deleted record. */
            readonly before?: components["schemas"]["AuditedRecord"];
            /** @description The changed fields as they are now, or the new record. */
            readonly after?: components["schemas"]["AuditedRecord"];
            /** @description The SHA-256, in hexadecimal, of the previous hash and of this entry. */
            readonly hash: string;
        };
        /** @description Metrics in the text format of Prometheus, version 0.0.4. */
        readonly MetricsText: string;
        /** @description The events of the stream. Without a field, those of all relayers or types. */
        readonly CreateStreamTicketRequest: {
            /** @description Only events about this relayer. */
            readonly relayer_id?: components["schemas"]["Id"];
            /** @description Only events of this type. */
            readonly type?: components["schemas"]["EventType"];
        };
        readonly StreamTicketResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["StreamTicket"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The right to open one event stream. */
        readonly StreamTicket: {
            /** @description The value of the query parameter `ticket`. It needs no URL encoding. */
            readonly ticket: string;
            /** @description The connection must begin before this time. */
            readonly expires_at: components["schemas"]["Timestamp"];
        };
        /** @description Each server-sent event of the stream. */
        readonly StreamedEvent: {
            readonly id: components["schemas"]["EventNumber"];
            readonly event: components["schemas"]["EventType"];
            /** @description The event as JSON, in one line. */
            readonly data: string;
        };
        /** @description The content of an event. `payload_type` says which of these it is. */
        readonly EventPayload: components["schemas"]["TransactionPayload"] | components["schemas"]["RelayerDisabledPayload"] | components["schemas"]["RelayerEnabledPayload"] | components["schemas"]["SchedulePayload"] | components["schemas"]["AlertPayload"] | components["schemas"]["TestPayload"];
        /** @description The transaction at that time, with all fields of `getTransactionById` except `attempts`. */
        readonly TransactionPayload: components["schemas"]["EvmTransactionPayload"] | components["schemas"]["StellarTransactionPayload"] | components["schemas"]["SolanaTransactionPayload"];
        /**
         * EVM transaction in an event
         * @description The transaction on an EVM network at that time.
         */
        readonly EvmTransactionPayload: components["schemas"]["EvmTransaction"] & {
            readonly payload_type: components["schemas"]["TransactionPayloadType"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "evm";
        };
        /**
         * Stellar transaction in an event
         * @description The transaction on a Stellar network at that time.
         */
        readonly StellarTransactionPayload: components["schemas"]["StellarTransaction"] & {
            readonly payload_type: components["schemas"]["TransactionPayloadType"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "stellar";
        };
        /**
         * Solana transaction in an event
         * @description The transaction on a Solana network at that time.
         */
        readonly SolanaTransactionPayload: components["schemas"]["SolanaTransaction"] & {
            readonly payload_type: components["schemas"]["TransactionPayloadType"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "solana";
        };
        /** @description The service disabled a relayer. */
        readonly RelayerDisabledPayload: {
            /** @constant */
            readonly payload_type: "relayer_disabled";
            /** @description The relayer at that time. */
            readonly relayer: components["schemas"]["Relayer"];
            readonly disable_reason: components["schemas"]["DisabledReason"];
        };
        /** @description The service enabled a relayer. */
        readonly RelayerEnabledPayload: {
            /** @constant */
            readonly payload_type: "relayer_enabled";
            /** @description The relayer at that time. */
            readonly relayer: components["schemas"]["Relayer"];
            /** @description The number of checks that had failed in a row before this one. */
            readonly retry_count: number;
        };
        /**
         * @description - `balance_low`: the account can spend less than the policy `warn_balance` of its relayer. It ends at 110 % of it.
         *     - `token_balance_high`: the relayer holds more of a fee token than its `max_token_balance`. It ends below 90 % of it.
         *     - `transaction_stuck`: a transaction blocks its account. It ends when the transaction no longer does.
         *     - `relayer_disabled`: the service disabled a relayer. It ends when the service enables it.
         *     - `endpoint_down`: an endpoint was not usable for 60 s. It ends when the endpoint was usable for 60 s.
         *     - `chain_halted`: a network has made no block for 20 times its `average_blocktime_ms`, and for at least 60 s, or its endpoints no longer
         *       follow it. It ends with the next block.
         *     - `budget_nearly_used`: 90 % of a limit of a relayer or an API key is used. It ends below 80 %.
         *     - `delivery_dead`: deliveries of a notification were given up. It ends when there are none left.
         *
         *     An alert also ends when its subject, or the setting for the warning, is deleted.
         * @enum {string}
         */
        readonly AlertKind: "balance_low" | "token_balance_high" | "transaction_stuck" | "relayer_disabled" | "endpoint_down" | "chain_halted" | "budget_nearly_used" | "delivery_dead";
        /** @description Identifies the alert: the same at its beginning and its end, and when it begins again. */
        readonly AlertId: string;
        /** @description A firing alert. Values are as of when it began. Fields that do not apply are absent. */
        readonly Alert: {
            readonly alert: components["schemas"]["AlertKind"];
            readonly alert_id: components["schemas"]["AlertId"];
            /** @constant */
            readonly state: "firing";
            /** @description The time when it began. */
            readonly since: components["schemas"]["Timestamp"];
            /** @description What happened, and what to do next, for people. */
            readonly message: string;
            /** @description The network, by type and name. */
            readonly network?: string;
            readonly relayer_id?: components["schemas"]["Id"];
            readonly transaction_id?: components["schemas"]["Id"];
            readonly notification_id?: components["schemas"]["Id"];
            readonly api_key_id?: components["schemas"]["Id"];
            /** @description The url of an endpoint, without the part in which providers put their keys. */
            readonly endpoint?: string;
            /** @description The number that was measured, in decimal digits. */
            readonly value?: string;
            /** @description The threshold at which the alert begins, in decimal digits. */
            readonly threshold?: string;
        };
        readonly AlertListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["Alert"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description An alert began or ended. Fields that do not apply are absent. */
        readonly AlertPayload: {
            /** @constant */
            readonly payload_type: "alert";
            readonly alert: components["schemas"]["AlertKind"];
            readonly alert_id: components["schemas"]["AlertId"];
            /**
             * @description Firing, it began. Resolved, it ended.
             * @enum {string}
             */
            readonly state: "firing" | "resolved";
            /** @description The time when it began. */
            readonly since: components["schemas"]["Timestamp"];
            /** @description The time when it ended; absent while it fires. */
            readonly resolved_at?: components["schemas"]["Timestamp"];
            /** @description What happened, and what to do next, for people. */
            readonly message: string;
            /** @description The network, by type and name. */
            readonly network?: string;
            readonly relayer_id?: components["schemas"]["Id"];
            readonly transaction_id?: components["schemas"]["Id"];
            readonly notification_id?: components["schemas"]["Id"];
            readonly api_key_id?: components["schemas"]["Id"];
            /** @description The url of an endpoint, without the part in which providers put their keys. */
            readonly endpoint?: string;
            /** @description The number that was measured, in decimal digits. */
            readonly value?: string;
            /** @description The threshold at which the alert begins, in decimal digits. */
            readonly threshold?: string;
        };
        /** @description The body of a delivery about an alert. */
        readonly AlertWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /** @constant */
            readonly event: "alert";
            readonly payload: components["schemas"]["AlertPayload"];
            /** @description When it happened. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /** @description A test. */
        readonly TestPayload: {
            /** @constant */
            readonly payload_type: "test";
            readonly notification_id: components["schemas"]["Id"];
        };
        /** @description The body of a delivery about a transaction. */
        readonly TransactionUpdateWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /** @constant */
            readonly event: "transaction_update";
            readonly payload: components["schemas"]["TransactionPayload"];
            /** @description When it happened. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /** @description The body of a delivery about a transaction that needs a person's attention. */
        readonly TransactionIncidentWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /**
             * @description The kind of incident.
             * @enum {string}
             */
            readonly event: "transaction_undecided" | "transaction_stuck" | "transaction_reorganized";
            readonly payload: components["schemas"]["TransactionPayload"];
            /** @description When it happened. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /** @description The body of a delivery about a relayer. */
        readonly RelayerStateUpdateWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /** @constant */
            readonly event: "relayer_state_update";
            /** @description The change. */
            readonly payload: components["schemas"]["RelayerDisabledPayload"] | components["schemas"]["RelayerEnabledPayload"];
            /** @description When it happened. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /** @description The body of a test. */
        readonly NotificationTestWebhook: {
            /** @description Identifies the event; the same on every attempt. */
            readonly id: components["schemas"]["Uuid"];
            /** @constant */
            readonly event: "notification_test";
            readonly payload: components["schemas"]["TestPayload"];
            /** @description When it was requested. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /**
         * @description - `waiting`: an earlier event of the same transaction comes first.
         *     - `pending`: being sent, or waiting for a retry.
         *     - `delivered`: the receiver answered with 2xx.
         *     - `dead`: given up; `redeliverDelivery` sends it again.
         * @enum {string}
         */
        readonly DeliveryStatus: "waiting" | "pending" | "delivered" | "dead";
        /** @description One event for one notification. */
        readonly Delivery: {
            readonly id: components["schemas"]["Id"];
            readonly notification_id: components["schemas"]["Id"];
            /** @description The `id` of the event. */
            readonly event_id: components["schemas"]["Uuid"];
            readonly event_number: components["schemas"]["EventNumber"];
            readonly event: components["schemas"]["EventType"];
            /** @description Absent if the event is not about a transaction. */
            readonly transaction_id?: components["schemas"]["Id"];
            readonly status: components["schemas"]["DeliveryStatus"];
            /** @description The number of times that the service has sent it. */
            readonly tries: number;
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When it was sent last. */
            readonly tried_at?: components["schemas"]["Timestamp"];
            /** @description When it is sent again, at the earliest. */
            readonly next_try_at?: components["schemas"]["Timestamp"];
            /** @description When it arrived or was given up. */
            readonly settled_at?: components["schemas"]["Timestamp"];
            /** @description HTTP status of the newest response. Absent if there was none. */
            readonly response_code?: number;
            /** @description The duration of the newest attempt, in milliseconds. */
            readonly latency_ms?: number;
            /** @description Why the newest attempt failed. */
            readonly error?: string;
        };
        /** @description A delivery with what was sent and received. */
        readonly DeliveryWithExchange: {
            readonly id: components["schemas"]["Id"];
            readonly notification_id: components["schemas"]["Id"];
            /** @description The `id` of the event. */
            readonly event_id: components["schemas"]["Uuid"];
            readonly event_number: components["schemas"]["EventNumber"];
            readonly event: components["schemas"]["EventType"];
            /** @description Absent if the event is not about a transaction. */
            readonly transaction_id?: components["schemas"]["Id"];
            readonly status: components["schemas"]["DeliveryStatus"];
            /** @description The number of times that the service has sent it. */
            readonly tries: number;
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When it was sent last. */
            readonly tried_at?: components["schemas"]["Timestamp"];
            /** @description When it is sent again, at the earliest. */
            readonly next_try_at?: components["schemas"]["Timestamp"];
            /** @description When it arrived or was given up. */
            readonly settled_at?: components["schemas"]["Timestamp"];
            /** @description HTTP status of the newest response. Absent if there was none. */
            readonly response_code?: number;
            /** @description The duration of the newest attempt, in milliseconds. */
            readonly latency_ms?: number;
            /** @description Why the newest attempt failed. */
            readonly error?: string;
            /**
             * @description The exact body that is signed and sent. After a change of a registered ABI, this body and further attempts have the `decoded_call` of the
             *     current one.
             */
            readonly body: string;
            /** @description The newest request. Absent until the first attempt. */
            readonly request?: {
                /** @description The url that it was sent to, without its secrets, as in a notification. */
                readonly url: string;
                /** @description The headers that were sent. */
                readonly headers: {
                    readonly [key: string]: string;
                };
            };
            /** @description The newest response. Absent if there was none. */
            readonly response?: {
                /** @description The HTTP status. */
                readonly code: number;
                /** @description At most 50 of them. */
                readonly headers: {
                    readonly [key: string]: string;
                };
                /** @description The beginning of it. */
                readonly body: string;
            };
        };
        /** @description The deliveries to send again, in exactly one of two forms. */
        readonly RedeliverManyRequest: components["schemas"]["DeadLetters"] | components["schemas"]["EventRange"];
        /** @description All deliveries that were given up. */
        readonly DeadLetters: {
            /**
             * @description All dead letters.
             * @constant
             */
            readonly status: "dead";
        };
        /** @description The deliveries of the events from one number to another. */
        readonly EventRange: {
            /** @description The number of the first event. */
            readonly from: components["schemas"]["EventNumber"];
            /** @description The number of the last event. */
            readonly to: components["schemas"]["EventNumber"];
        };
        /** @description The numbers of deliveries. */
        readonly RedeliveryCount: {
            /** @description The number of deliveries that this call sends again. */
            readonly redelivered: number;
            /** @description The number of such deliveries that are left. Call again for them; for a range, with a higher `from`. */
            readonly remaining: number;
        };
        /** @description The event that is being sent. */
        readonly TestEvent: {
            readonly event_id: components["schemas"]["Uuid"];
        };
        /** @description A new signing key. */
        readonly RotateSigningKeyRequest: {
            /** @description The new secret. Never returned. */
            readonly signing_key: string;
            /** @description How long the previous key also signs, in seconds. A day by default; at most 30 days. */
            readonly overlap_seconds?: number;
        };
        /** @description The state of the signing keys. */
        readonly SigningKeyRotation: {
            readonly notification_id: components["schemas"]["Id"];
            /** @description Absent if there was no previous key. */
            readonly previous_key_expires_at?: components["schemas"]["Timestamp"];
        };
        /** @description The outcome of canceling every waiting transaction. */
        readonly PendingCancellation: {
            /** @description Transactions that are canceled, or replaced by a no-op; newest first. */
            readonly queued_for_cancellation_transaction_ids: readonly components["schemas"]["Id"][];
            /** @description Transactions that could not be canceled and may still be executed; newest first. */
            readonly failed_to_queue_transaction_ids: readonly components["schemas"]["Id"][];
            /** @description The reasons, in the same order. */
            readonly failures: readonly {
                readonly transaction_id: components["schemas"]["Id"];
                readonly code: components["schemas"]["ErrorCode"];
                /** @description A sentence for a person. */
                readonly error: string;
            }[];
            /** @description The number of transactions in the two lists. */
            readonly total_processed: number;
            /** @description The number of transactions that this request has not handled. */
            readonly remaining: number;
        };
        /** @description The message to sign. */
        readonly SignRequest: {
            /** @description The text to sign. Its UTF-8 bytes are signed; hexadecimal is not decoded. May be empty. */
            readonly message: string;
        };
        /** @description A transaction to sign. The relayer's `network_type` determines the form. */
        readonly SignTransactionRequest: components["schemas"]["UnsignedStellarTransaction"] | components["schemas"]["UnsignedSolanaTransaction"] | components["schemas"]["UnsignedEvmTransaction"] | components["schemas"]["EncodedEvmTransaction"];
        /**
         * Stellar, to sign
         * @description An unsigned transaction on Stellar.
         */
        readonly UnsignedStellarTransaction: {
            /** @description A `TransactionEnvelope` as XDR in base64. It may have other signatures. */
            readonly unsigned_xdr: string;
        };
        /**
         * Solana, to sign
         * @description An unsigned transaction on Solana.
         */
        readonly UnsignedSolanaTransaction: {
            readonly transaction: components["schemas"]["EncodedSerializedTransaction"];
        };
        /**
         * EVM, fields to sign
         * @description The price is `gas_price`, or both `max_fee_per_gas` and `max_priority_fee_per_gas`.
         */
        readonly UnsignedEvmTransaction: {
            /** @description The receiver, as `EvmAddress` says. Absent, null or empty to create a smart contract, which needs `data`. */
            readonly to?: string | null;
            /** @description The amount to transfer, in wei: an integer, or a string that keeps every digit. */
            readonly value: components["schemas"]["U128"];
            /** @description Call data or creation code; at most 128 KiB. */
            readonly data?: string;
            readonly nonce: components["schemas"]["Int64"];
            readonly gas_limit: components["schemas"]["Int64"];
            /** @description The legacy price of a unit of gas, in wei. */
            readonly gas_price?: components["schemas"]["U128"];
            /** @description The maximum price of a unit of gas, in wei. */
            readonly max_fee_per_gas?: components["schemas"]["U128"];
            /** @description The part of the fee that may go to the block producer, in wei. */
            readonly max_priority_fee_per_gas?: components["schemas"]["U128"];
        };
        /**
         * EVM, RLP to sign
         * @description An unsigned transaction on EVM, in RLP.
         */
        readonly EncodedEvmTransaction: {
            /** @description The bytes to sign, in RLP, as other tools serialize an unsigned transaction. */
            readonly unsigned_transaction: string;
        };
        /** @description An authorization of smart contract calls to sign. */
        readonly SignAuthorizationEntryRequest: {
            /**
             * @description A `HashIdPreimage` of an authorization as XDR in base64, which @stellar/stellar-sdk and SEP-43 pass to `signAuthEntry`. At most 132096
             *     bytes, the largest transaction on the public network.
             */
            readonly preimage_xdr: string;
        };
        readonly SignedTransactionResponse: {
            /** @constant */
            readonly success: true;
            /** @description The signed transaction, in the form of its network. */
            readonly data: components["schemas"]["SignedStellarTransaction"] | components["schemas"]["SignedSolanaTransaction"] | components["schemas"]["SignedEvmTransaction"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * Stellar, signed
         * @description A signed transaction on Stellar.
         */
        readonly SignedStellarTransaction: {
            /** @description The envelope with the signature, as XDR in base64. */
            readonly signedXdr: string;
            /** @description The 64 bytes of the signature in base64. */
            readonly signature: string;
        };
        /**
         * Solana, signed
         * @description A signed transaction on Solana.
         */
        readonly SignedSolanaTransaction: {
            /** @description The transaction with the signature, in wire format and base64. */
            readonly transaction: string;
            /** @description The signature in base58, by which the network knows the transaction. */
            readonly signature: string;
        };
        /**
         * EVM, signed
         * @description A signed transaction on EVM.
         */
        readonly SignedEvmTransaction: {
            /** @description The signed bytes. */
            readonly signed_transaction: components["schemas"]["HexData"];
            /** @description The hash by which the network knows it. */
            readonly hash: components["schemas"]["EvmHash"];
            readonly signature: components["schemas"]["TransactionSignature"];
        };
        /** @description A call, or a batch of them. */
        readonly RpcRequest: components["schemas"]["RpcCall"] | readonly components["schemas"]["RpcCall"][];
        /** @description Other fields are not forwarded. */
        readonly RpcCall: {
            /** @constant */
            readonly jsonrpc?: "2.0";
            readonly id?: components["schemas"]["RpcId"];
            /** @description The name of the method. */
            readonly method: string;
            /** @description By position or by name. */
            readonly params?: readonly unknown[] | {
                readonly [key: string]: unknown;
            } | null;
        } & {
            readonly [key: string]: unknown;
        };
        /** @description A string, a number or null; returned unchanged. */
        readonly RpcId: unknown;
        /** @description The answer to a call, or the answers to a batch. */
        readonly RpcResponse: components["schemas"]["RpcReply"] | readonly components["schemas"]["RpcReply"][];
        /** @description Either `result` or `error`. */
        readonly RpcReply: {
            /** @constant */
            readonly jsonrpc: "2.0";
            readonly id: components["schemas"]["RpcId"];
            /** @description The result from the node, or from the relayer as a wallet. */
            readonly result?: unknown;
            /** @description The error from the node, or from the service. */
            readonly error?: {
                /** @description The code of the error. */
                readonly code: number;
                /** @description The text of the error. */
                readonly message: string;
                /** @description A sentence for a person. Only in errors of the service. */
                readonly description?: string;
                /**
                 * @description Details that the node added. In errors of the relayer as a wallet: the `code` of the service, or the `transactionId` and `status` of a
                 *     transaction that was accepted nevertheless.
                 */
                readonly data?: unknown;
            };
        };
        /** @description Either the two hashes or the document. */
        readonly SignTypedDataRequest: components["schemas"]["TypedDataHashes"] | components["schemas"]["TypedDataDocument"];
        /**
         * Hashes
         * @description The two hashes of a document.
         */
        readonly TypedDataHashes: {
            /** @description The hash of the domain. */
            readonly domain_separator: components["schemas"]["Hash32"];
            /** @description The hash of the message. */
            readonly hash_struct_message: components["schemas"]["Hash32"];
        };
        /** @description 32 bytes in hexadecimal, with or without `0x`. */
        readonly Hash32: string;
        /**
         * EIP-712 document
         * @description Integers are JSON integers, decimal strings, or `0x` and hexadecimal digits, and lose no digit. Bytes are `0x` and hexadecimal digits;
         *     addresses are as `EvmAddress` says, also with the chain id of the domain.
         */
        readonly TypedDataDocument: {
            /** @description The domain of the signature. Its fields are those of `EIP712Domain`. */
            readonly domain: {
                readonly [key: string]: unknown;
            };
            /**
             * @description Fields of each struct, in the order in which they are signed. Names are those of Solidity, and may contain colons, as in some protocols
             *     (`HyperliquidTransaction:UsdSend`).
             */
            readonly types: {
                readonly [key: string]: readonly {
                    /** @description The name of the field. */
                    readonly name: string;
                    /** @description A type of EIP-712, one of `types`, or arrays of them. */
                    readonly type: string;
                }[];
            };
            /** @description The type of the message, a name in `types`. */
            readonly primaryType: string;
            /** @description The message to sign. Empty if `primaryType` is `EIP712Domain`. */
            readonly message: {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description Hexadecimal without `0x`. EVM: an ECDSA signature over secp256k1 with the lower of the two possible `s` (EIP-2). Stellar and Solana: an
         *     ed25519 signature; `r` and `s` are its two halves, `v` is 0.
         */
        readonly Signature: {
            /** @description 32 bytes. */
            readonly r: string;
            /** @description 32 bytes. */
            readonly s: string;
            /** @description 65 bytes on EVM: `r`, `s`, `v`; 64 bytes for ed25519. */
            readonly sig: string;
            /** @description The recovery id plus 27, which selects the public key: 27 or 28; 0 for ed25519. */
            readonly v: number;
            /** @description The signature in base64 (Stellar) or base58 (Solana). */
            readonly signature?: string;
            /** @description The account that signed. Stellar and Solana. */
            readonly public_key?: string;
        };
        /**
         * @description The signature of the attempt that the transaction shows, in hexadecimal without `0x`. EVM: `v` is 0 or 1 with EIP-1559 prices, 27 or 28 with a
         *     legacy price. Stellar and Solana: the signature of the relayer's account; `v` is 0.
         */
        readonly TransactionSignature: {
            /** @description 32 bytes. */
            readonly r: string;
            /** @description 32 bytes. */
            readonly s: string;
            /** @description The recovery id, which selects the public key; plus 27 with a legacy price. */
            readonly v: number;
            /** @description 65 bytes on EVM: `r`, `s`, `v`; 64 bytes for ed25519. */
            readonly sig: string;
        };
        readonly DiagnosisResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Diagnosis"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The facts about a transaction and the next step. */
        readonly Diagnosis: {
            readonly transaction_id: components["schemas"]["Id"];
            readonly status: components["schemas"]["TransactionStatus"];
            /** @description The most important finding, for people. */
            readonly summary: string;
            readonly decoded_call?: components["schemas"]["DecodedCall"];
            /** @description All findings, most important first. Never empty. */
            readonly findings: readonly components["schemas"]["Finding"][];
            /** @description The position of the transaction in the account's queue. The network includes transactions in the order of their nonces. */
            readonly queue: {
                /** @description The number of open transactions of the account that come before this one. 0 is the head. */
                readonly position: number;
                /** @description The number of transactions that are signed but not mined. */
                readonly in_flight: number;
                /** @description The maximum number in flight. Further ones wait unsigned. */
                readonly in_flight_limit: number;
            };
            /** @description The nonce of the transaction and of its account. Absent until the transaction has a nonce. */
            readonly nonce?: {
                readonly own: components["schemas"]["Quantity"];
                /** @description The next nonce on the chain. */
                readonly next_on_chain?: components["schemas"]["Quantity"];
                /** @description Nonces before it that no transaction of the service has; at most 64 are listed. */
                readonly missing: readonly components["schemas"]["Quantity"][];
            };
            /**
             * @description Prices of a unit of gas, in wei; on Stellar of an operation, in stroops; on Solana of a compute unit, in micro-lamports. All are decimal
             *     strings. Absent until something is signed.
             */
            readonly fees?: {
                /** @description The maximum that the shown attempt pays. */
                readonly offered: components["schemas"]["DecimalString"];
                /** @description The price that the service would set now at the same speed. */
                readonly market?: components["schemas"]["DecimalString"];
                /** @description The minimum that the next block requires. */
                readonly base_fee?: components["schemas"]["DecimalString"];
                /** @description The price up to which the service currently raises it automatically (`fee_limit_multiplier`). Absent if nothing is raised. */
                readonly limit?: components["schemas"]["DecimalString"];
                /** @description The `gas_price_cap` or the `max_fee` of the relayer. */
                readonly cap?: components["schemas"]["DecimalString"];
            };
            /** @description Amounts in wei, stroops or lamports, as decimal strings. */
            readonly funds?: {
                /** @description The amount that the account can spend. */
                readonly balance?: components["schemas"]["DecimalString"];
                /** @description The maximum that the other open transactions can still cost. */
                readonly reserved: components["schemas"]["DecimalString"];
                /** @description The maximum that this transaction can cost. */
                readonly needed: components["schemas"]["DecimalString"];
            };
            /** @description The depth of the transaction. Absent unless a block includes it. */
            readonly confirmations?: {
                /** @description The block that includes it. */
                readonly block: components["schemas"]["Quantity"];
                /** @description The newest block. */
                readonly head?: components["schemas"]["Quantity"];
                /** @description The number of blocks that must be on top of it. */
                readonly required: number;
            };
            /** @description The newest block of the network. */
            readonly head?: components["schemas"]["NetworkHead"];
            /** @description The nodes that the service uses for this relayer. */
            readonly endpoints: readonly {
                /** @description The host of the endpoint. */
                readonly host: string;
                /** @description False while the service avoids it after failures. */
                readonly healthy: boolean;
                /** @description The newest block that it reported. */
                readonly head?: components["schemas"]["Quantity"];
                /**
                 * @description Solana: true if it has old transactions. Without history an endpoint cannot prove that an expired transaction was not included.
                 *     Absent if the service has not checked.
                 */
                readonly keeps_history?: boolean;
                /** @description Its last failure. */
                readonly error?: string;
            }[];
            /** @description The next step of the service. */
            readonly next_action: {
                /**
                 * @description - `sign`: the service prices it, assigns its nonce and signs it.
                 *     - `broadcast`: the service sends the signed bytes to the nodes.
                 *     - `raise_fee`: the service signs the same content with a higher fee.
                 *     - `expire`: the service replaces it with a no-op.
                 *     - `watch`: the service waits for a block to include it.
                 *     - `confirm`: the service waits for blocks on top of the one that includes it.
                 *     - `fill_gap`: the service fills missing nonces before it.
                 *     - `none`: the service does nothing; the transaction is final, or needs outside action.
                 * @enum {string}
                 */
                readonly action: "sign" | "broadcast" | "raise_fee" | "expire" | "watch" | "confirm" | "fill_gap" | "none";
                /** @description The time of the next step. Absent if it is due as soon as possible, or never. */
                readonly at?: components["schemas"]["Timestamp"];
                /** @description The same for people. */
                readonly message: string;
            };
        };
        /** @description One fact about a transaction. */
        readonly Finding: {
            /**
             * @description - `final`: it has ended.
             *     - `chain_reset`: the chain is not the one that the service saw first, or has lost a nonce; `message` says what to do.
             *     - `canceling`: the caller canceled it, and it is not decided yet which version counts.
             *     - `replacement_waiting`: the caller replaced it; the new version is sent when the earlier one can no longer be included.
             *     - `relayer_paused`, `relayer_disabled`: nothing is signed for now.
             *     - `waiting_for_funds`: the account cannot pay for it, or for a raise of its fee, on top of what is in flight.
             *     - `in_flight_limit`: the maximum number of transactions is in flight.
             *     - `behind_others`: earlier transactions must be included first.
             *     - `missing_predecessor`: the chain waits for a nonce that no transaction has.
             *     - `fee_below_base_fee`: no block can include it at its price.
             *     - `fee_below_market`: blocks currently prefer others.
             *     - `fee_at_cap`: a higher fee would be above `gas_price_cap` or `tx_fee_cap`, on Stellar `max_fee`, on Solana `max_allowed_fee_lamports`.
             *     - `fee_at_limit`: a raise of its fee would be above `fee_limit_multiplier` times the current market.
             *     - `fee_over_budget`: a budget does not allow a raise of its fee.
             *     - `nonce_passed`: the chain has used its nonce; the service is finding out which attempt was included.
             *     - `queued_in_pool`: the nodes know it but would not include it, although its nonce is next.
             *     - `no_private_endpoint`: it is private, and its network no longer has a private endpoint; its bytes are sent nowhere.
             *     - `kept_private`: only the private endpoints know it.
             *     - `made_public`: private endpoints did not get it included in time, so the ordinary endpoints receive it as well.
             *     - `not_taken`: no node has accepted it yet; `message` has their replies, and whether the nodes refuse everything with its nonce.
             *     - `undecided`: no endpoint can prove any more whether a block included it; an operator must decide.
             *     - `stuck`: it has been the first of its account's queue unusually long, or the nodes refuse everything with its nonce.
             *     - `nodes_silent`: no node answers.
             *     - `chain_halted`: the network currently makes no blocks, or its endpoints no longer follow it. Fees are not raised.
             *     - `signer_unavailable`: the key service currently does not sign.
             *     - `nodes_disagree`: the nodes are at different blocks.
             *     - `awaits_approval`: a rule requires a decision by another API key.
             *     - `awaits_transaction`: it waits for another transaction (`after`).
             *     - `scheduled`: it waits for its `valid_from`.
             *     - `awaits_price`: the next block, or every node, requires more than the caller's price or `when` allows. It is not signed until that
             *       changes, and others overtake it.
             *     - `waiting_to_be_signed`, `waiting_for_inclusion`, `waiting_for_confirmations`: everything is in order.
             * @enum {string}
             */
            readonly code: "final" | "chain_reset" | "canceling" | "replacement_waiting" | "relayer_paused" | "relayer_disabled" | "waiting_for_funds" | "in_flight_limit" | "behind_others" | "missing_predecessor" | "fee_below_base_fee" | "fee_below_market" | "fee_at_cap" | "fee_at_limit" | "fee_over_budget" | "nonce_passed" | "queued_in_pool" | "no_private_endpoint" | "kept_private" | "made_public" | "not_taken" | "undecided" | "stuck" | "nodes_silent" | "chain_halted" | "signer_unavailable" | "nodes_disagree" | "awaits_approval" | "awaits_transaction" | "scheduled" | "awaits_price" | "waiting_to_be_signed" | "waiting_for_inclusion" | "waiting_for_confirmations";
            /** @description The same for people. */
            readonly message: string;
        };
        /** @description The requested speed and its meaning on this network. */
        readonly TransactionSpeed: {
            readonly level: components["schemas"]["Speed"];
            /**
             * @description The service multiplies the market price by this: `eth_gasPrice` for a legacy price, twice the next base fee for `max_fee_per_gas` (before
             *     the tip).
             */
            readonly price_multiplier: number;
            /**
             * @description How long the service waits before it raises the price automatically, in seconds. It raises the price only after a new block that could
             *     have included the transaction but did not, or if the next block requires more than it offers.
             */
            readonly raise_after_seconds: number;
        };
        /** @description The state of a request. It shows the attempt that counts, which is the included one or else the newest. `network_type` determines its fields. */
        readonly Transaction: components["schemas"]["EvmTransaction"] | components["schemas"]["StellarTransaction"] | components["schemas"]["SolanaTransaction"];
        /**
         * @description Present while the transaction waits until another API key decides (`getApproval`).
         * @constant
         */
        readonly AwaitsApproval: true;
        /**
         * @description Present if the shown attempt is a no-op: it takes the place of what `requested` says, and executes nothing. `mined` then means only that its
         *     nonce is used.
         * @constant
         */
        readonly NoOp: true;
        /**
         * @description Present while nothing proves what happened to the transaction. It is neither signed again nor ended until the endpoints agree, or an operator
         *     decides (`decideTransaction`).
         */
        readonly UndecidedSince: components["schemas"]["Timestamp"];
        /**
         * @description Only present in event payloads.
         * @constant
         */
        readonly TransactionPayloadType: "transaction";
        /**
         * EVM transaction
         * @description A transaction on an EVM network.
         */
        readonly EvmTransaction: {
            /** @description Identifies the transaction. Never changes. */
            readonly id: components["schemas"]["Id"];
            /** @description The relayer that sends it. */
            readonly relayer_id: components["schemas"]["Id"];
            /**
             * @description The kind of network that the transaction is on. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "evm";
            readonly status: components["schemas"]["TransactionStatus"];
            /** @description Explains the status to people, if necessary. */
            readonly status_reason?: string;
            /**
             * @description Present when its bytes go to the private endpoints of the network: only to those, until `made_public_at`. Ordinary nodes do not see it
             *     before a block includes it.
             * @constant
             */
            readonly private?: true;
            /**
             * Format: date-time
             * @description When a private transaction was not included within `private_fallback_blocks`, the time from which its bytes go to the ordinary endpoints
             *     as well.
             */
            readonly made_public_at?: string;
            readonly awaits_approval?: components["schemas"]["AwaitsApproval"];
            readonly after?: components["schemas"]["After"];
            readonly awaits_transaction?: components["schemas"]["AwaitsTransaction"];
            readonly no_op?: components["schemas"]["NoOp"];
            readonly undecided_since?: components["schemas"]["UndecidedSince"];
            /** @description The relayer that it refills. Present if the service sent it for the `policies.top_up` of that relayer. */
            readonly top_up_of?: components["schemas"]["Id"];
            /** @description The schedule whose run it is. */
            readonly schedule_id?: components["schemas"]["Id"];
            readonly when?: components["schemas"]["FeeCondition"];
            /** @description The lane of the request. */
            readonly lane?: string;
            /** @description The `reference` of the request. */
            readonly reference?: string;
            /** @description The `description` of the request. */
            readonly description?: string;
            /** @description The `valid_from` of the request; nothing is signed before. */
            readonly valid_from?: components["schemas"]["Timestamp"];
            /** @description When the service accepted the request. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted the shown attempt. */
            readonly sent_at?: components["schemas"]["Timestamp"];
            /** @description When the transaction became final by inclusion. */
            readonly confirmed_at?: components["schemas"]["Timestamp"];
            readonly receipt?: components["schemas"]["EvmReceipt"];
            /** @description Hash of the shown attempt. Absent until something is signed. */
            readonly hash?: components["schemas"]["EvmHash"];
            /** @description Address of the account that sends it. */
            readonly from: components["schemas"]["EvmAddress"];
            /** @description The receiver. Absent for contract creation. */
            readonly to?: components["schemas"]["EvmAddress"];
            /** @description The transferred amount in wei, as a decimal string. */
            readonly value: components["schemas"]["DecimalString"];
            /** @description Call data or creation code. Absent while nothing is signed and the request had none. */
            readonly data?: components["schemas"]["HexData"];
            readonly decoded_call?: components["schemas"]["DecodedCall"];
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
            readonly requested?: components["schemas"]["RequestedEvmContent"];
            /**
             * @description The account nonce. Absent until the service assigns it. It stays, unless the chain proves that another program has used it: then the
             *     transaction gets another one.
             */
            readonly nonce?: components["schemas"]["Quantity"];
            readonly access_list?: components["schemas"]["EvmAccessList"];
            readonly authorization_list?: components["schemas"]["EvmAuthorizationList"];
            /** @description The gas limit. Absent until it is known. */
            readonly gas_limit?: components["schemas"]["Quantity"];
            /** @description Legacy price of a unit of gas, in wei, as a decimal string. */
            readonly gas_price?: components["schemas"]["DecimalString"];
            /** @description EIP-1559: the most that a unit of gas may cost, in wei, as a decimal string. */
            readonly max_fee_per_gas?: components["schemas"]["DecimalString"];
            /** @description EIP-1559: the part of the fee that may go to the block producer, in wei, as a decimal string. */
            readonly max_priority_fee_per_gas?: components["schemas"]["DecimalString"];
            readonly signature?: components["schemas"]["TransactionSignature"];
            readonly speed?: components["schemas"]["TransactionSpeed"];
            /** @description Every version that was ever signed, oldest first. Only present in responses about a single transaction. */
            readonly attempts?: readonly components["schemas"]["EvmAttempt"][];
            readonly payload_type?: components["schemas"]["TransactionPayloadType"];
        };
        /**
         * @description What the newest request asks for. Present if the record shows something else: a no-op that takes its place, or an earlier version that was
         *     included first.
         */
        readonly RequestedEvmContent: {
            /** @description The receiver. Absent for the creation of a smart contract. */
            readonly to?: components["schemas"]["EvmAddress"];
            /** @description The amount to transfer, in wei, as a decimal string. */
            readonly value: components["schemas"]["DecimalString"];
            /** @description Call data or creation code. Absent if the request had none. */
            readonly data?: components["schemas"]["HexData"];
            readonly decoded_call?: components["schemas"]["DecodedCall"];
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
        };
        /**
         * @description What the shown content moves, in its order: of the native currency, and of tokens by the calls of ERC-20, EIP-3009, Permit2, ERC-721 and
         *     ERC-1155, by the instructions of SPL Token and Token-2022 that name the mint, and by the payments and the calls of tokens (SEP-41) on Stellar.
         *     What the code of other contracts moves is not known. Once a block of an EVM network includes it with success, what tokens say by their events
         *     (ERC-20, ERC-721, ERC-1155), whatever called them; a reorganisation takes that back. Absent if nothing is known to move.
         */
        readonly Transfers: readonly components["schemas"]["Transfer"][];
        /**
         * @description Present if there are more transfers than the 100 that are shown.
         * @constant
         */
        readonly TransfersTruncated: true;
        /** @description An amount of an asset that goes from one account to another. */
        readonly Transfer: {
            /** @description The account that pays. Absent if it is not known. */
            readonly from?: string;
            /**
             * @description The account that receives. On Solana, tokens go to a token account; its owner is shown instead once a block tells it, or if the same
             *     transaction opens the account. Stellar: `B…` is a claimable balance, `L…` a pool. Absent if it is not known, if several accounts may
             *     claim the amount, or a new contract gets it, and if it is destroyed.
             */
            readonly to?: string;
            /**
             * @description `native`, or the address of the token (EVM, in lower case), mint (Solana) or contract (Stellar), or `CODE:ISSUER`, as in the rules of API
             *     keys.
             */
            readonly asset: string;
            /**
             * @description In the smallest unit of the asset, as a decimal string. A call of `transferFrom` has the same bytes for an NFT (ERC-721): then it is the
             *     id of the token.
             */
            readonly amount: components["schemas"]["DecimalString"];
            /** @description The token of the contract, as a decimal string (ERC-721, ERC-1155). */
            readonly token_id?: components["schemas"]["DecimalString"];
            /**
             * @description The symbol of the asset: of the native currency, and of tokens that the operator names in the configuration (`tokens` of a network). What
             *     a contract says about itself is no name. Absent for the transactions of deleted relayers.
             */
            readonly symbol?: string;
            /**
             * @description The number of digits after the point of one whole unit of the asset: from the network, the operator, the bytes or the block, or else what
             *     the token says, which is read once in the background. Absent until then, and for a token that says nothing.
             */
            readonly decimals?: number;
            /**
             * @description Present if the transfer is read from the content: it happens if the transaction succeeds, and the contract does what its standard says.
             *     Absent if the block tells it: by events of the receipt (EVM), balances (Solana), results and events of operations (Stellar).
             * @constant
             */
            readonly expected?: true;
        };
        /**
         * @description `data` as the call of a function, by a function of a standard such as ERC-20, or else by the ABI that is registered for the contract at the
         *     time of the answer or delivery (`registerAbi`). Absent if the function is unknown, if `data` is not exactly what an encoder writes for these
         *     arguments, for more than 16 KiB of data, in responses that send, replace or cancel, after the relayer was deleted, and while the transaction
         *     awaits an approval, if its sender registered the ABI. It only describes the data; the contract decides what it does with it.
         */
        readonly DecodedCall: {
            /** @description The signature of the function, such as `transfer(address,uint256)`. */
            readonly function: string;
            /** @description The registered name of the contract, or null. */
            readonly contract_name: string | null;
            /**
             * @description `registered`: the registered ABI of the contract has the function. `standard`: it has the selector of a standard function, whose arguments
             *     may mean something else in this contract.
             * @enum {string}
             */
            readonly source: "registered" | "standard";
            /** @description The arguments in order. */
            readonly args: readonly components["schemas"]["DecodedArgument"][];
        };
        /** @description An argument of a call. */
        readonly DecodedArgument: {
            /** @description The name of the parameter, or null if it is unknown. */
            readonly name: string | null;
            /** @description The type, such as `uint256` or `(address,uint256)[]`. */
            readonly type: string;
            /**
             * @description Integers are decimal strings, addresses have the EIP-55 checksum, bytes are `0x` and hexadecimal digits. A tuple is an object with the
             *     names of its components, or a list if they have none; an array is a list.
             */
            readonly value: string | boolean | readonly unknown[] | {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description The block that includes the shown attempt, and the price of it. Present while the chain includes it, so also for what was reverted and for a
         *     no-op: a reorganisation takes it back. Absent where an operator decided that it was included.
         * @example {
         *       "transaction_hash": "0xbac88dd159d6a22072c495e627500d52f74e1d6dac9e200b2a114a70c740fd10",
         *       "block_number": 21,
         *       "block_hash": "0x8e38b4dbf6b11fcc3b9dee84fb7986e29ca0a02cecd8977c161ff7333329681e",
         *       "block_time": "2026-11-20T10:00:22.000Z",
         *       "gas_used": 21000,
         *       "effective_gas_price": "33875175000",
         *       "fee": "711378675000000"
         *     }
         */
        readonly EvmReceipt: {
            /** @description The hash of the included attempt. */
            readonly transaction_hash: components["schemas"]["EvmHash"];
            /** @description The number of the block. */
            readonly block_number: components["schemas"]["Quantity"];
            /** @description The hash of the block. */
            readonly block_hash: components["schemas"]["EvmHash"];
            /** @description The time that the block states. Absent until a node tells it. */
            readonly block_time?: components["schemas"]["Timestamp"];
            /** @description The gas that the execution used. */
            readonly gas_used: components["schemas"]["Quantity"];
            /** @description The price that was paid for a unit of gas, in wei, as a decimal string. Absent where nodes do not tell it. */
            readonly effective_gas_price?: components["schemas"]["DecimalString"];
            /**
             * @description All that the account paid for it besides `value`, in wei, as a decimal string: `gas_used` times `effective_gas_price`, with `l1_fee` and
             *     `operator_fee`. Absent where the price is unknown.
             */
            readonly fee?: components["schemas"]["DecimalString"];
            /** @description The part of `fee` for the data on the parent chain, in wei, on rollups whose nodes tell it apart (OP stack). */
            readonly l1_fee?: components["schemas"]["DecimalString"];
            /** @description The part of `fee` for the operator of the rollup, in wei, where its nodes tell the rate (OP stack). */
            readonly operator_fee?: components["schemas"]["DecimalString"];
        };
        /**
         * @description The ledger that includes the shown attempt, and the fee. Present once a ledger includes it, also when it failed there.
         * @example {
         *       "transaction_hash": "6dd4f14ea897db1d28e0b8a0e89181901d1fa1585ada2ad54a9b4390a5676160",
         *       "ledger": 3,
         *       "ledger_time": "2026-11-20T10:00:28.000Z",
         *       "fee_charged": 200,
         *       "fee_account": "GAXYSACHZURRAQ2LVJ46H7D2IP6E5WWBNE6QMUCNJBZWKED3VVCP3U4I"
         *     }
         */
        readonly StellarReceipt: {
            /** @description The hash of the envelope in the ledger, like `applied_hash`. In a fee bump it is that of the fee bump. */
            readonly transaction_hash: components["schemas"]["StellarHash"];
            /** @description The sequence number of the ledger. */
            readonly ledger: components["schemas"]["Quantity"];
            /** @description The time when the ledger closed. Absent where no node tells it. */
            readonly ledger_time?: components["schemas"]["Timestamp"];
            /** @description The fee that the network charged, in stroops. */
            readonly fee_charged?: components["schemas"]["Quantity"];
            /** @description The account that paid it. */
            readonly fee_account?: components["schemas"]["StellarAccount"];
        };
        /**
         * @description The slot whose block includes the shown attempt, and the price of it. Present while the chain includes it, also when it failed there: a
         *     dropped fork takes it back.
         * @example {
         *       "slot": 345,
         *       "block_time": "2026-11-20T10:00:32.000Z",
         *       "compute_units": 450,
         *       "fee": 5000,
         *       "transaction_signature": "3Ab2w1YYYJd2ZQpFMG3y3FmPz45ZyGUQHn7zoNPWRdMdHxS5hU3CyR4gMCDNpQKYZEuWVJXFjdm2sG1pA8WNvJfL"
         *     }
         */
        readonly SolanaReceipt: {
            /** @description The signature of the included attempt. */
            readonly transaction_signature: components["schemas"]["SolanaSignature"];
            /** @description The slot of the block. */
            readonly slot: number;
            /** @description The estimate of the network. Absent until a node tells it. */
            readonly block_time?: components["schemas"]["Timestamp"];
            /** @description The compute units that it used. Absent until a node tells them. */
            readonly compute_units?: components["schemas"]["Quantity"];
            /**
             * @description The fee that the network charged, in lamports; 0 where the block contains it without having executed it (SIMD-0290). Absent while no node
             *     tells it, if the transaction has a price for priority and no limit of compute units: then its bytes do not say it.
             */
            readonly fee?: components["schemas"]["Quantity"];
        };
        readonly TransactionReceiptResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TransactionReceipt"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /** @description The receipt of a transaction, with what it emitted. `network_type` tells which fields there are. */
        readonly TransactionReceipt: components["schemas"]["EvmTransactionReceipt"] | components["schemas"]["StellarTransactionReceipt"] | components["schemas"]["SolanaTransactionReceipt"];
        /** @description False when the transaction was reverted or failed in its block. */
        readonly ReceiptSucceeded: boolean;
        /** @description True when there is more than an answer may have. */
        readonly ReceiptTruncated: boolean;
        /**
         * Receipt on EVM
         * @description The receipt of a transaction on an EVM network.
         */
        readonly EvmTransactionReceipt: {
            readonly transaction_id: components["schemas"]["Id"];
            /**
             * @description The kind of network. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "evm";
            readonly receipt: components["schemas"]["EvmReceipt"];
            readonly succeeded: components["schemas"]["ReceiptSucceeded"];
            /** @description The logs in the order of their emission. */
            readonly logs: readonly components["schemas"]["EvmLog"][];
            readonly truncated: components["schemas"]["ReceiptTruncated"];
        };
        /** @description A log of a contract. */
        readonly EvmLog: {
            /** @description The position of the log in its block. */
            readonly log_index: components["schemas"]["Quantity"];
            /** @description The contract that emitted it. */
            readonly address: components["schemas"]["EvmAddress"];
            /** @description The topics; the first one names the event. */
            readonly topics: readonly components["schemas"]["EvmHash"][];
            /** @description The values that are not indexed. */
            readonly data: components["schemas"]["HexData"];
            readonly decoded_event?: components["schemas"]["DecodedEvent"];
        };
        /**
         * @description A log as an event of ERC-20, ERC-721 or ERC-1155, or else of the ABI that is registered for its contract now. Absent where the event is
         *     unknown, or the log is not exactly what the event emits.
         */
        readonly DecodedEvent: {
            /** @description The signature of the event, such as `Transfer(address,address,uint256)`. */
            readonly event: string;
            /** @description The name with which the ABI of the contract is registered, or null. */
            readonly contract_name: string | null;
            /**
             * @description As in `decoded_call`.
             * @enum {string}
             */
            readonly source: "registered" | "standard";
            /**
             * @description The values in order. In place of an indexed value of a type that has no fixed size, or of a list or tuple, a log has only its Keccak-256
             *     hash, and so has `value`.
             */
            readonly args: readonly components["schemas"]["DecodedArgument"][];
        };
        /**
         * Receipt on Stellar
         * @description The receipt of a transaction on a Stellar network.
         */
        readonly StellarTransactionReceipt: {
            readonly transaction_id: components["schemas"]["Id"];
            /**
             * @description The kind of network. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "stellar";
            readonly receipt: components["schemas"]["StellarReceipt"];
            readonly succeeded: components["schemas"]["ReceiptSucceeded"];
            /** @description The value that the called function returned. */
            readonly return_value?: components["schemas"]["DecodedScVal"];
            /** @description The events of smart contracts and of the network itself, in the order of their emission. */
            readonly events: readonly {
                /**
                 * @description Contract or system.
                 * @enum {string}
                 */
                readonly type: "contract" | "system";
                /** @description The contract (`C…`). */
                readonly contract_id?: string;
                /** @description Its topics. */
                readonly topics: readonly components["schemas"]["DecodedScVal"][];
                readonly data: components["schemas"]["DecodedScVal"];
            }[];
            readonly truncated: components["schemas"]["ReceiptTruncated"];
        };
        /** @description A value in the notation of `ScVal`; integers above 64 bits are decimal strings. What has none there is `{"xdr":"…"}` in base64. */
        readonly DecodedScVal: string | {
            readonly [key: string]: unknown;
        };
        /**
         * Receipt on Solana
         * @description The receipt of a transaction on a Solana network.
         */
        readonly SolanaTransactionReceipt: {
            readonly transaction_id: components["schemas"]["Id"];
            /**
             * @description The kind of network. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "solana";
            readonly receipt: components["schemas"]["SolanaReceipt"];
            readonly succeeded: components["schemas"]["ReceiptSucceeded"];
            /** @description The lines that its programs wrote. Absent where nodes keep none. */
            readonly logs?: readonly string[];
            readonly truncated: components["schemas"]["ReceiptTruncated"];
        };
        /**
         * Stellar transaction
         * @description A transaction on a Stellar network.
         */
        readonly StellarTransaction: {
            /** @description Identifies the transaction. Never changes. */
            readonly id: components["schemas"]["Id"];
            /** @description The relayer that sends it. */
            readonly relayer_id: components["schemas"]["Id"];
            /**
             * @description The kind of network that the transaction is on. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "stellar";
            readonly status: components["schemas"]["TransactionStatus"];
            /** @description Explains the status to people, if necessary. */
            readonly status_reason?: string;
            readonly awaits_approval?: components["schemas"]["AwaitsApproval"];
            readonly after?: components["schemas"]["After"];
            readonly awaits_transaction?: components["schemas"]["AwaitsTransaction"];
            readonly no_op?: components["schemas"]["NoOp"];
            readonly undecided_since?: components["schemas"]["UndecidedSince"];
            /** @description The relayer that it refills. Present if the service sent it for the `policies.top_up` of that relayer. */
            readonly top_up_of?: components["schemas"]["Id"];
            /** @description The schedule whose run it is. */
            readonly schedule_id?: components["schemas"]["Id"];
            /** @description The lane of the request. */
            readonly lane?: string;
            /** @description The `reference` of the request. */
            readonly reference?: string;
            /** @description The `description` of the request. */
            readonly description?: string;
            /** @description The `valid_from` of the request; nothing is signed before. */
            readonly valid_from?: components["schemas"]["Timestamp"];
            /** @description When the service accepted the request. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted the shown attempt. */
            readonly sent_at?: components["schemas"]["Timestamp"];
            /** @description When the transaction became final by inclusion. */
            readonly confirmed_at?: components["schemas"]["Timestamp"];
            readonly receipt?: components["schemas"]["StellarReceipt"];
            /** @description Hash of the shown attempt. Absent until something is signed. */
            readonly hash?: components["schemas"]["StellarHash"];
            /** @description Address of the account that sends it. */
            readonly from: components["schemas"]["StellarAccount"];
            /**
             * @description The account whose sequence number the transaction uses: the relayer, one of its channels, or the account that signed a `fee_bump`
             *     transaction.
             */
            readonly source_account: components["schemas"]["StellarAccount"];
            /**
             * @description The sequence number, as a decimal string. Absent until the service assigns it. The service frees it when the chain proves that nothing
             *     with it was included.
             */
            readonly sequence_number?: components["schemas"]["DecimalString"];
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
            readonly requested?: components["schemas"]["RequestedStellarContent"];
            /** @description The maximum fee of the shown attempt, or, once it is included, the fee charged; in stroops, as an exact JSON integer. */
            readonly fee?: components["schemas"]["Quantity"];
            /** @description The maximum fee of the request, in stroops, as an exact JSON integer. */
            readonly max_fee?: components["schemas"]["Quantity"];
            /** @description The operations of the request, with exact JSON integers. Absent if it brought `transaction_xdr`, and for the service's own transactions. */
            readonly operations?: readonly components["schemas"]["OperationSpec"][];
            /** @description The memo of the request, beside `operations`. */
            readonly memo?: components["schemas"]["MemoSpec"];
            /** @description True if the shown attempt is in a fee bump. Absent until something is signed. */
            readonly fee_bump?: boolean;
            /** @description When the shown attempt expires. Until something is signed, the `valid_until` of the request. */
            readonly valid_until?: components["schemas"]["Timestamp"];
            /** @description The signed envelope of the shown attempt, or the one from the request, as XDR in base64. */
            readonly transaction_xdr?: string;
            /**
             * @description The hash of the included envelope. It differs from `hash` if another account sent the same signed content, plain or in its own fee bump
             *     (CAP-15); `status_reason` says so.
             */
            readonly applied_hash?: components["schemas"]["StellarHash"];
            /** @description The account that paid `fee`, once the transaction is included. */
            readonly fee_account?: components["schemas"]["StellarAccount"];
            /** @description The `TransactionResult` of the ledger, as XDR in base64. */
            readonly result_xdr?: string;
            /** @description The value that a smart contract returned, as the XDR of its `ScVal` in base64. */
            readonly transaction_result_xdr?: string;
            readonly signature?: components["schemas"]["TransactionSignature"];
            /** @description Every version that was ever signed, oldest first. Only present in responses about a single transaction. */
            readonly attempts?: readonly components["schemas"]["StellarAttempt"][];
            readonly payload_type?: components["schemas"]["TransactionPayloadType"];
        };
        /**
         * @description What the newest request asks for. Present once the transaction is canceled, expired or given up, because the shown attempt may be a no-op, and
         *     while a replacement waits for an earlier version to expire.
         */
        readonly RequestedStellarContent: {
            /** @description The operations of the request. */
            readonly operations?: readonly components["schemas"]["OperationSpec"][];
            /** @description The prebuilt envelope of the request, as XDR in base64. */
            readonly transaction_xdr?: string;
            readonly memo?: components["schemas"]["MemoSpec"];
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
        };
        /**
         * Solana transaction
         * @description A transaction on a Solana network.
         */
        readonly SolanaTransaction: {
            /** @description Identifies the transaction. Never changes. */
            readonly id: components["schemas"]["Id"];
            /** @description The relayer that sends it. */
            readonly relayer_id: components["schemas"]["Id"];
            /**
             * @description The kind of network that the transaction is on. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            readonly network_type: "solana";
            readonly status: components["schemas"]["TransactionStatus"];
            /** @description Explains the status to people, if necessary. */
            readonly status_reason?: string;
            readonly awaits_approval?: components["schemas"]["AwaitsApproval"];
            readonly after?: components["schemas"]["After"];
            readonly awaits_transaction?: components["schemas"]["AwaitsTransaction"];
            readonly no_op?: components["schemas"]["NoOp"];
            readonly undecided_since?: components["schemas"]["UndecidedSince"];
            /** @description The relayer that it refills. Present if the service sent it for the `policies.top_up` of that relayer. */
            readonly top_up_of?: components["schemas"]["Id"];
            /** @description The schedule whose run it is. */
            readonly schedule_id?: components["schemas"]["Id"];
            /** @description The lane of the request. */
            readonly lane?: string;
            /** @description The `reference` of the request. */
            readonly reference?: string;
            /** @description The `description` of the request. */
            readonly description?: string;
            /** @description The `valid_from` of the request; nothing is signed before. */
            readonly valid_from?: components["schemas"]["Timestamp"];
            /** @description When the service accepted the request. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted the shown attempt. */
            readonly sent_at?: components["schemas"]["Timestamp"];
            /** @description When the transaction became final by inclusion. */
            readonly confirmed_at?: components["schemas"]["Timestamp"];
            readonly receipt?: components["schemas"]["SolanaReceipt"];
            /** @description The first signature of the shown attempt. Absent until something is signed. */
            readonly hash?: components["schemas"]["SolanaSignature"];
            /** @description Address of the account that sends it. */
            readonly from: components["schemas"]["SolanaPublicKey"];
            /** @description The signed transaction of the shown attempt, or the one from the request; wire format in base64. */
            readonly transaction?: string;
            /** @description The same as `hash`. */
            readonly transaction_signature?: components["schemas"]["SolanaSignature"];
            /** @description The instructions of the request. Absent if it had a serialized transaction. */
            readonly instructions?: readonly components["schemas"]["SolanaInstruction"][];
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
            readonly requested?: components["schemas"]["RequestedSolanaContent"];
            /**
             * @description The maximum cost of signatures and priority, in lamports, as an exact JSON integer, and once a node tells it, what the network charged: 0
             *     if a block contains it without having executed it (SIMD-0290). Absent until something is signed.
             */
            readonly fee?: components["schemas"]["Quantity"];
            /** @description The last block height at which the shown attempt is valid. Absent with a durable nonce, and until something is signed. */
            readonly last_valid_block_height?: components["schemas"]["Quantity"];
            /** @description The `valid_until` of the request. */
            readonly valid_until?: components["schemas"]["Timestamp"];
            readonly signature?: components["schemas"]["TransactionSignature"];
            readonly speed?: components["schemas"]["TransactionSpeed"];
            /** @description Every version that was ever signed, oldest first. Only present in responses about a single transaction. */
            readonly attempts?: readonly components["schemas"]["SolanaAttempt"][];
            readonly payload_type?: components["schemas"]["TransactionPayloadType"];
        };
        /**
         * @description What the newest request asks for. Present once the transaction is canceled, expired or given up, and while a replacement waits for an earlier
         *     version to expire.
         */
        readonly RequestedSolanaContent: {
            /** @description The instructions of the request. */
            readonly instructions?: readonly components["schemas"]["SolanaInstruction"][];
            /** @description The prebuilt transaction of the request, wire format in base64. */
            readonly transaction?: string;
            readonly transfers?: components["schemas"]["Transfers"];
            readonly transfers_truncated?: components["schemas"]["TransfersTruncated"];
        };
        /** @description A transaction with every version that was ever signed. */
        readonly TransactionWithAttempts: components["schemas"]["EvmTransactionWithAttempts"] | components["schemas"]["StellarTransactionWithAttempts"] | components["schemas"]["SolanaTransactionWithAttempts"];
        /**
         * EVM transaction with attempts
         * @description A transaction on an EVM network with every version that was ever signed.
         */
        readonly EvmTransactionWithAttempts: components["schemas"]["EvmTransaction"] & {
            /** @description Every version that was ever signed, oldest first. */
            readonly attempts: readonly components["schemas"]["EvmAttempt"][];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "evm";
        };
        /**
         * Stellar transaction with attempts
         * @description A transaction on a Stellar network with every version that was ever signed.
         */
        readonly StellarTransactionWithAttempts: components["schemas"]["StellarTransaction"] & {
            /** @description Every version that was ever signed, oldest first. */
            readonly attempts: readonly components["schemas"]["StellarAttempt"][];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "stellar";
        };
        /**
         * Solana transaction with attempts
         * @description A transaction on a Solana network with every version that was ever signed.
         */
        readonly SolanaTransactionWithAttempts: components["schemas"]["SolanaTransaction"] & {
            /** @description Every version that was ever signed, oldest first. */
            readonly attempts: readonly components["schemas"]["SolanaAttempt"][];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly network_type: "solana";
        };
        /**
         * @description Why the attempt was made.
         *
         *     - `send`: the first version.
         *     - `replace`: requested with PUT.
         *     - `cancel`: requested with DELETE.
         *     - `speed_up`: the service raised the price automatically.
         *     - `expire`: a no-op in its place, because `valid_until` passed.
         *     - `abandon`: a no-op in its place, because no node would ever accept it. If nodes refuse it in unknown wording, the no-op also shows whether
         *       they refuse everything: if none accepts the no-op, the earlier version counts again.
         *     - `gap_filler`: a no-op of the service that fills a nonce gap.
         *     - `re_sign`: the same content signed again, because the earlier version expired.
         *     - `setup`: a transaction of the service that others wait for, such as creating channel accounts.
         * @enum {string}
         */
        readonly AttemptKind: "send" | "replace" | "cancel" | "speed_up" | "expire" | "abandon" | "gap_filler" | "re_sign" | "setup";
        /**
         * @description The outcome of the attempt, as far as it is known.
         *
         *     - `signed`: signed and stored; possibly broadcast.
         *     - `broadcast`: a node accepted it.
         *     - `refused`: the nodes refused it; see `error`.
         *     - `mined`: included and successful.
         *     - `reverted`: included, but its effects were undone.
         *     - `superseded`: something else with this nonce was included.
         *     - `expired`: it has expired, and the chain has proved that it was not included.
         * @enum {string}
         */
        readonly AttemptOutcome: "signed" | "broadcast" | "refused" | "mined" | "reverted" | "superseded" | "expired";
        /**
         * EVM attempt
         * @description One signed version of a transaction on an EVM network.
         */
        readonly EvmAttempt: {
            /** @description 1 for the first. */
            readonly number: number;
            readonly kind: components["schemas"]["AttemptKind"];
            readonly outcome: components["schemas"]["AttemptOutcome"];
            /** @description The account nonce that it is signed with. */
            readonly nonce: components["schemas"]["Quantity"];
            /** @description The hash by which the network knows it. */
            readonly hash: components["schemas"]["EvmHash"];
            /** @description The receiver. Absent for contract creation. */
            readonly to?: components["schemas"]["EvmAddress"];
            /** @description The transferred amount in wei, as a decimal string. */
            readonly value: components["schemas"]["DecimalString"];
            /** @description Call data or creation code. */
            readonly data: components["schemas"]["HexData"];
            readonly access_list?: components["schemas"]["EvmAccessList"];
            readonly authorization_list?: components["schemas"]["EvmAuthorizationList"];
            /** @description The gas limit. */
            readonly gas_limit: components["schemas"]["Quantity"];
            /** @description Legacy price of a unit of gas, in wei, as a decimal string. */
            readonly gas_price?: components["schemas"]["DecimalString"];
            /** @description EIP-1559: the most that a unit of gas may cost, in wei, as a decimal string. */
            readonly max_fee_per_gas?: components["schemas"]["DecimalString"];
            /** @description EIP-1559: the part of the fee that may go to the block producer, in wei, as a decimal string. */
            readonly max_priority_fee_per_gas?: components["schemas"]["DecimalString"];
            /** @description When the service signed it. */
            readonly signed_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted it. */
            readonly broadcast_at?: components["schemas"]["Timestamp"];
            /** @description The node's reason for refusing the attempt. */
            readonly error?: string;
        };
        /**
         * Stellar attempt
         * @description One signed version of a transaction on a Stellar network.
         */
        readonly StellarAttempt: {
            /** @description 1 for the first. */
            readonly number: number;
            readonly kind: components["schemas"]["AttemptKind"];
            readonly outcome: components["schemas"]["AttemptOutcome"];
            /** @description The hash by which the network knows it. */
            readonly hash: components["schemas"]["StellarHash"];
            /** @description The account whose sequence number it uses. */
            readonly source_account: components["schemas"]["StellarAccount"];
            /** @description The sequence number, as a decimal string. */
            readonly sequence_number: components["schemas"]["DecimalString"];
            /** @description Its maximum fee, in stroops, as an exact JSON integer. */
            readonly fee: components["schemas"]["Quantity"];
            /** @description The fee that the network charged, in stroops, as an exact JSON integer; `fee_account` paid it. */
            readonly fee_charged?: components["schemas"]["Quantity"];
            /** @description True if it is in a fee bump. */
            readonly fee_bump: boolean;
            /** @description When it expires. Absent if it has no time bound. */
            readonly valid_until?: components["schemas"]["Timestamp"];
            /** @description The signed envelope, as XDR in base64. */
            readonly transaction_xdr: string;
            /** @description The hash of the transaction inside the fee bump. It identifies the transaction, regardless of who wrapped it. */
            readonly inner_hash?: components["schemas"]["StellarHash"];
            /** @description The hash of the included envelope. */
            readonly applied_hash?: components["schemas"]["StellarHash"];
            /** @description The account that paid `fee_charged`. */
            readonly fee_account?: components["schemas"]["StellarAccount"];
            /** @description The `TransactionResult` of the ledger, as XDR in base64. */
            readonly result_xdr?: string;
            /** @description When the service signed it. */
            readonly signed_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted it. */
            readonly broadcast_at?: components["schemas"]["Timestamp"];
            /** @description The node's reason for refusing the attempt. */
            readonly error?: string;
        };
        /**
         * Solana attempt
         * @description One signed version of a transaction on a Solana network.
         */
        readonly SolanaAttempt: {
            /** @description 1 for the first. */
            readonly number: number;
            readonly kind: components["schemas"]["AttemptKind"];
            readonly outcome: components["schemas"]["AttemptOutcome"];
            /** @description The first signature, by which the network knows it. */
            readonly hash: components["schemas"]["SolanaSignature"];
            /** @description The signed transaction, wire format in base64. */
            readonly transaction: string;
            /**
             * @description The maximum cost of signatures and priority, in lamports, as an exact JSON integer, and once a node tells it, what the network charged: 0
             *     if a block contains it without having executed it (SIMD-0290).
             */
            readonly fee: components["schemas"]["Quantity"];
            /** @description The last block height at which it is valid. Absent with a durable nonce. */
            readonly last_valid_block_height?: components["schemas"]["Quantity"];
            /** @description When the service signed it. */
            readonly signed_at: components["schemas"]["Timestamp"];
            /** @description When a node first accepted it. */
            readonly broadcast_at?: components["schemas"]["Timestamp"];
            /** @description The node's reason for refusing the attempt. */
            readonly error?: string;
        };
        /** @description One of three groups of fields, depending on the relayer's `network_type`. */
        readonly TransactionRequest: components["schemas"]["EvmTransactionRequest"] | components["schemas"]["SolanaTransactionRequest"] | components["schemas"]["SolanaInstructionsRequest"] | components["schemas"]["StellarTransactionRequest"];
        /** @description Transactions that are accepted together. */
        readonly TransactionBatchRequest: {
            /** @description The transactions in order of acceptance, all for the relayer's network type. */
            readonly transactions: readonly components["schemas"]["TransactionRequest"][];
            /** @description The lane of the whole batch; no item has one of its own. */
            readonly lane?: components["schemas"]["Lane"];
        };
        /**
         * @description What belongs together, such as a customer or a contract, 1 to 100 visible ASCII characters. While a transaction of a lane is open, the further
         *     ones of the lane use the same account, in the order of acceptance, or of each key with `fair_share`. Without lanes, each uses the account with
         *     the most room.
         */
        readonly Lane: string;
        /**
         * @description Your own name for the transaction, 1 to 128 visible ASCII characters, such as the number of an invoice. The service gives it no meaning: it
         *     need not be unique, a search finds it, and records, events and webhooks show it. A replacement has none, because it keeps that of its
         *     transaction.
         */
        readonly Reference: string;
        /**
         * @description Your own text about the transaction, such as what is paid for, up to 1024 characters. The service gives it no meaning: records, events and
         *     webhooks show it, and no search finds it. A replacement has none, because it keeps that of its transaction.
         */
        readonly Description: string;
        /**
         * @description Your own name for this item of a batch, 1 to 255 visible ASCII characters; see `sendTransactionBatch`. Refused elsewhere: a single transaction
         *     has the header `Idempotency-Key`, and a replacement needs none.
         */
        readonly BatchIdempotencyKey: string;
        /**
         * EVM
         * @description A transfer, a call or a contract creation. Set the price in exactly one way: `gas_price` (legacy), or both `max_fee_per_gas` and
         *     `max_priority_fee_per_gas` (EIP-1559), or `speed`, which lets the service price it. The default is the speed `fast`. Mixtures are refused with
         *     `invalid_request`. Amounts are in wei.
         */
        readonly EvmTransactionRequest: {
            /** @description The receiver, as `EvmAddress` says. Absent, null or empty to create a smart contract, which needs `data`. */
            readonly to?: string | null;
            /** @description The amount to transfer, in wei: an integer, or a string that keeps every digit. */
            readonly value: components["schemas"]["U128"];
            /** @description Call data or creation code; at most 128 KiB. */
            readonly data?: string;
            readonly call?: components["schemas"]["EvmCall"];
            readonly access_list?: components["schemas"]["EvmAccessList"];
            readonly authorization_list?: components["schemas"]["EvmAuthorizationList"];
            /** @description The gas limit. If absent or null, the service estimates it and adds a margin. */
            readonly gas_limit?: components["schemas"]["Int64"] | null;
            /** @description The legacy price of a unit of gas, in wei. */
            readonly gas_price?: components["schemas"]["U128"];
            /** @description The maximum price of a unit of gas, in wei. */
            readonly max_fee_per_gas?: components["schemas"]["U128"];
            /** @description The part of the fee that may go to the block producer, in wei. */
            readonly max_priority_fee_per_gas?: components["schemas"]["U128"];
            readonly speed?: components["schemas"]["Speed"];
            readonly when?: components["schemas"]["FeeConditionRequest"];
            readonly valid_from?: components["schemas"]["ValidFrom"];
            readonly after?: components["schemas"]["AfterRequest"];
            /**
             * Format: date-time
             * @description RFC 3339. If this time passes before anything is signed, the transaction expires. A signed transaction is replaced by a no-op with the
             *     same nonce; the transaction ends as the network decides.
             */
            readonly valid_until?: string;
            readonly lane?: components["schemas"]["Lane"];
            readonly reference?: components["schemas"]["Reference"];
            readonly description?: components["schemas"]["Description"];
            readonly idempotency_key?: components["schemas"]["BatchIdempotencyKey"];
        };
        /**
         * @description Waits for a low fee of the network: with automatic prices, nothing is signed until the base fee of the next block (the gas price, where blocks
         *     have none) is at most `fee_at_most`. It is judged when the transaction is signed, about every 10 s; until then it has no nonce, reserves
         *     nothing, and others overtake it. A signed transaction does not wait again, and may cost more if the fee rises before a block includes it.
         *     Needs `valid_until`.
         */
        readonly FeeConditionRequest: {
            /** @description The highest fee, in wei per unit of gas. */
            readonly fee_at_most: components["schemas"]["U128"];
            /**
             * @description What happens at `valid_until`: it expires (default), or it is sent at the market price, within the policies.
             * @enum {string}
             */
            readonly at_end?: "expire" | "send";
        };
        /** @description Not on Stellar, whose ledgers have no base fee that changes. `max_fee` is the most that a transaction pays. */
        readonly NoStellarFeeCondition: unknown;
        /** @description Not on Solana, whose blocks have no base fee. The policy `max_allowed_fee_lamports` is the most that a transaction pays. */
        readonly NoSolanaFeeCondition: unknown;
        /** @description The `when` of the request. */
        readonly FeeCondition: {
            /** @description The highest fee, in wei per unit of gas. */
            readonly fee_at_most: string;
            /**
             * @description What happens at the end of the wait.
             * @enum {string}
             */
            readonly at_end: "expire" | "send";
            /** @description The end of the wait. */
            readonly until?: components["schemas"]["Timestamp"];
        };
        /**
         * @description The accounts and storage that the transaction declares (EIP-2930), which makes their first use cheaper; each entry costs gas. With EIP-1559
         *     prices the transaction is of type 2, with a legacy price of type 1. A no-op in its place has none.
         */
        readonly EvmAccessList: readonly {
            /** @description The account. */
            readonly address: components["schemas"]["EvmAddress"];
            /** @description The slots of its storage. */
            readonly storage_keys: readonly string[];
        }[];
        /**
         * @description Authorizations that other accounts have signed (EIP-7702); with them the transaction is of type 4, at EIP-1559 prices, and needs `to`. They
         *     are refused unless the relayer's policy `allow_authorization_list` is true, and if the relayer's own account signed one, because that would
         *     use a nonce of the relayer. The network skips entries whose nonce is not their account's next one, even if the transaction succeeds. Under
         *     spending rules, each contract must be in `contracts`, because what it moves cannot be read.
         */
        readonly EvmAuthorizationList: readonly {
            /** @description The chain id of the network; 0 means every network. */
            readonly chain_id: number;
            /** @description The contract whose code the account runs; the zero address ends a delegation. */
            readonly address: components["schemas"]["EvmAddress"];
            /** @description The next nonce of the signing account. */
            readonly nonce: components["schemas"]["Quantity"];
            /** @description The parity of the signature. */
            readonly y_parity: number;
            /** @description The first half of the signature. */
            readonly r: string;
            /** @description The second half of the signature. */
            readonly s: string;
        }[];
        /**
         * Format: date-time
         * @description RFC 3339, at most 30 days ahead. The request is accepted and stored durably now; before this time it has no nonce, nothing is signed or
         *     reserved, and others overtake it. Rules and budgets count on acceptance. It can be replaced and canceled immediately. A past time has no
         *     effect. A request that would fail now, because it would revert or the balance is too low, is accepted, and simulated when its time comes.
         *     `valid_until` must be later. Refused for content that others have signed, and when replacing a transaction that has a nonce or signed bytes.
         */
        readonly ValidFrom: string;
        /**
         * @description Another transaction of this service, of any relayer and network that the API key may read, that must come first. The request is accepted and
         *     stored durably now; until then it has no nonce, nothing is signed or reserved, and others overtake it. Rules and budgets count on acceptance,
         *     and an approval can be decided meanwhile. It can be canceled, not replaced. It ends as `expired` when `valid_until` passes first. At most 16
         *     transactions wait one behind the other, and 100 for the same one. A request that would fail now is accepted, and simulated when it goes on.
         *     Refused for content that others have signed, and for a transaction that has ended otherwise.
         */
        readonly AfterRequest: {
            /** @description Its id. */
            readonly transaction_id: components["schemas"]["Id"];
            /**
             * @description The state to wait for. A `mined` block can still leave the chain; what is signed by then stays signed. `final` is a `confirmed` block
             *     that cannot: on Stellar, Solana, and EVM networks whose `finality` is `finalized`. It is refused on others.
             */
            readonly state?: components["schemas"]["AfterState"];
            /** @description What happens if it ends otherwise. */
            readonly on_failure?: components["schemas"]["AfterFailure"];
        };
        /**
         * @description `confirmed` if absent.
         * @enum {string}
         */
        readonly AfterState: "mined" | "confirmed" | "final";
        /**
         * @description `cancel` this one, also if absent, with the reason; or `send` it.
         * @enum {string}
         */
        readonly AfterFailure: "cancel" | "send";
        /** @description The transaction that this one was told to wait for. */
        readonly After: {
            /** @description Its id. */
            readonly transaction_id: components["schemas"]["Id"];
            /** @description Its relayer. */
            readonly relayer_id: components["schemas"]["Id"];
            readonly state: components["schemas"]["AfterState"];
            readonly on_failure: components["schemas"]["AfterFailure"];
        };
        /**
         * @description Present while it waits for the transaction of `after`.
         * @constant
         */
        readonly AwaitsTransaction: true;
        /** @description The ABI of a contract. */
        readonly RegisterAbiRequest: {
            readonly abi: components["schemas"]["Abi"];
            /** @description The name of the contract for people, such as `USDC`. */
            readonly name?: string;
        };
        /**
         * @description The ABI as JSON, or the part of it that is needed. Only the fields that determine the encoding of calls, events and errors are kept; others,
         *     such as `internalType`, are dropped.
         */
        readonly Abi: readonly {
            readonly [key: string]: unknown;
        }[];
        /** @description A contract for which an ABI is registered. */
        readonly AbiSummary: {
            /** @description The address of the contract. */
            readonly address: components["schemas"]["EvmAddress"];
            /** @description The name of the contract, for people. Absent if it has none. */
            readonly name?: string;
            /** @description The number of functions of the ABI. */
            readonly function_count: number;
            /** @description When the first ABI of the contract was registered. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When the current one was registered. */
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        /** @description The ABI of a contract. */
        readonly ContractAbi: {
            /** @description The address of the contract. */
            readonly address: components["schemas"]["EvmAddress"];
            /** @description The name of the contract, for people. Absent if it has none. */
            readonly name?: string;
            /** @description The number of functions of the ABI. */
            readonly function_count: number;
            /** @description When the first ABI of the contract was registered. */
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description When the current one was registered. */
            readonly updated_at: components["schemas"]["Timestamp"];
            readonly abi: components["schemas"]["Abi"];
        };
        readonly AbiListResponse: {
            /** @constant */
            readonly success: true;
            /** @description The items of the page. */
            readonly data: readonly components["schemas"]["AbiSummary"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ContractAbiResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["ContractAbi"];
            readonly error?: components["schemas"]["EnvelopeError"];
            readonly metadata?: components["schemas"]["Metadata"];
        };
        /**
         * @description A call of the contract at `to` by function name, instead of `data`; both together are refused. The service encodes it and stores only the
         *     data: rules, idempotency and responses are those of the same request with `data`.
         */
        readonly EvmCall: {
            /**
             * @description The signature of the function, such as `transfer(address,uint256)`, with or without the names of its parameters. With `abi`, or with an
             *     ABI that is registered for `to` (`registerAbi`), the name alone, if only one function of the ABI has it.
             */
            readonly function: string;
            /**
             * @description The arguments in order, or an object with the names of the parameters; absent for a function without parameters. Integers are JSON
             *     integers of any size, decimal strings, or `0x` and hexadecimal digits; addresses and bytes are `0x` and hexadecimal digits; a tuple is a
             *     list, or an object with the names of its components; arrays are lists.
             */
            readonly args?: readonly unknown[] | {
                readonly [key: string]: unknown;
            };
            /**
             * @description The ABI of the contract as JSON, or the part of it that has the function. Other items are ignored. It takes precedence over a registered
             *     one.
             */
            readonly abi?: readonly {
                readonly [key: string]: unknown;
            }[];
        };
        /**
         * Solana, serialized transaction
         * @description A transaction in wire format, legacy or version 0, with the relayer as its fee payer. If only the relayer signs, the service sets a new
         *     blockhash, and a compute unit limit and priority fee if the transaction sets none. If others also sign, the service broadcasts it byte for
         *     byte: their signatures must be present, and the relayer only pays the fee (see `fee_payer_spending`).
         */
        readonly SolanaTransactionRequest: {
            readonly transaction: components["schemas"]["EncodedSerializedTransaction"];
            readonly speed?: components["schemas"]["Speed"];
            /** @description When the service begins; see `ValidFrom`. Null counts as absent. */
            readonly valid_from?: components["schemas"]["ValidFrom"] | null;
            readonly when?: components["schemas"]["NoSolanaFeeCondition"];
            readonly after?: components["schemas"]["AfterRequest"];
            readonly valid_until?: components["schemas"]["SolanaValidUntil"];
            readonly lane?: components["schemas"]["Lane"];
            readonly reference?: components["schemas"]["Reference"];
            readonly description?: components["schemas"]["Description"];
            readonly idempotency_key?: components["schemas"]["BatchIdempotencyKey"];
        };
        /**
         * @description A serialized transaction in base64: a legacy one or one of version 0, at most 1232 bytes. Version 1 (SIMD-0385, up to 4096 bytes) is refused
         *     with 400.
         */
        readonly EncodedSerializedTransaction: string;
        /**
         * Solana, instructions
         * @description Instructions from which the service builds the transaction. The relayer pays, and is the only signer.
         */
        readonly SolanaInstructionsRequest: {
            /** @description The instructions, in order. */
            readonly instructions: readonly components["schemas"]["SolanaInstructionSpec"][];
            readonly speed?: components["schemas"]["Speed"];
            /** @description When the service begins; see `ValidFrom`. Null counts as absent. */
            readonly valid_from?: components["schemas"]["ValidFrom"] | null;
            readonly when?: components["schemas"]["NoSolanaFeeCondition"];
            readonly after?: components["schemas"]["AfterRequest"];
            readonly valid_until?: components["schemas"]["SolanaValidUntil"];
            readonly lane?: components["schemas"]["Lane"];
            readonly reference?: components["schemas"]["Reference"];
            readonly description?: components["schemas"]["Description"];
            readonly idempotency_key?: components["schemas"]["BatchIdempotencyKey"];
        };
        /**
         * Format: date-time
         * @description RFC 3339. After this time the service signs nothing more, and the transaction expires. A signed version may still be included until its
         *     blockhash has expired, which takes about a minute; the transaction ends as the network decides.
         */
        readonly SolanaValidUntil: string | null;
        /** @description 32 bytes in base58. */
        readonly SolanaPublicKey: string;
        /** @description An instruction with its accounts and data, or a `call` of it by name. */
        readonly SolanaInstructionSpec: components["schemas"]["SolanaInstruction"] | components["schemas"]["SolanaInstructionCall"];
        /** @description One instruction. */
        readonly SolanaInstruction: {
            readonly program_id: components["schemas"]["SolanaPublicKey"];
            /** @description The program's accounts, in order. */
            readonly accounts: readonly components["schemas"]["SolanaAccountMeta"][];
            /** @description Instruction data in base64, at most 1232 bytes. */
            readonly data: string;
        };
        /** @description An account of an instruction. */
        readonly SolanaAccountMeta: {
            readonly pubkey: components["schemas"]["SolanaPublicKey"];
            /** @description Only the relayer itself may be a signer. */
            readonly is_signer: boolean;
            /** @description True if the program may change the account. */
            readonly is_writable: boolean;
        };
        /** @description An instruction by name, with its program's IDL. */
        readonly SolanaInstructionCall: {
            readonly program_id: components["schemas"]["SolanaPublicKey"];
            readonly call: components["schemas"]["SolanaIdlCall"];
        };
        /**
         * @description The name of an instruction and its values, instead of `accounts` and `data`. The service encodes them and stores only the instruction: rules,
         *     idempotency and responses are those of the same request with `accounts` and `data`. The IDL comes with the request and is never read from the
         *     chain, because a lying node could turn one instruction into another.
         */
        readonly SolanaIdlCall: {
            /**
             * @description The IDL of the program, as Anchor writes it (`target/idl`), before or since version 0.30, or the part of it that has the instruction and
             *     its types. An `address` in it must be `program_id`. Generic types and types that are not encoded by Borsh are refused.
             */
            readonly idl: {
                readonly [key: string]: unknown;
            };
            /** @description The name of the instruction, spelled as in the IDL. */
            readonly instruction: string;
            /**
             * @description The arguments by their names in the IDL; absent for an instruction without arguments. Integers are JSON integers of any size, or decimal
             *     strings; addresses are base58; bytes are `{"base64": …}`, `{"hex": …}` or lists of integers; vectors, arrays and tuples are lists; a
             *     structure is an object. A variant of an enum without fields is its name; another one is an object whose only field is its name. An option
             *     is its value, or null; in objects it may be omitted.
             */
            readonly args?: {
                readonly [key: string]: unknown;
            };
            /**
             * @description The addresses of the accounts by their names in the IDL; a group of accounts is an object. Accounts with a constant `address` in the IDL,
             *     and optional ones, may be omitted; accounts that a program derives are not computed. An account that signs must be the relayer.
             */
            readonly accounts?: {
                readonly [key: string]: unknown;
            };
            /** @description Additional accounts that the IDL does not name, appended in order. */
            readonly remaining_accounts?: readonly components["schemas"]["SolanaAccountMeta"][];
        };
        /** @description A transaction of a user, and the token in which the user pays its fee. */
        readonly SponsoredTransactionRequest: components["schemas"]["SponsoredStellarRequest"] | components["schemas"]["SponsoredSolanaRequest"];
        /**
         * Sponsored Stellar request
         * @description Either `transaction_xdr`, or `operations` with `source_account`.
         */
        readonly SponsoredStellarRequest: {
            /** @description An envelope with the account of the user as its source, XDR in base64. Its signatures are ignored. */
            readonly transaction_xdr?: components["schemas"]["StellarTransactionRequest"]["transaction_xdr"];
            readonly operations?: components["schemas"]["StellarTransactionRequest"]["operations"];
            /** @description The account of the user; required with `operations`. */
            readonly source_account?: components["schemas"]["StellarAccount"] | null;
            /** @description `native`, `CODE:ISSUER`, or for smart contract calls the contract of a token. */
            readonly fee_token: string;
        };
        /** Sponsored Solana request */
        readonly SponsoredSolanaRequest: {
            /** @description A transaction that a user signs, in wire format, base64. Any fee payer; its signatures are ignored. */
            readonly transaction: string;
            /** @description The mint of the token. */
            readonly fee_token: string;
        };
        readonly SponsoredQuoteResponse: {
            /** @constant */
            readonly success: true;
            /** @description The quote. */
            readonly data: components["schemas"]["SponsoredStellarQuote"] | components["schemas"]["SponsoredSolanaQuote"];
        };
        /** Sponsored Stellar quote */
        readonly SponsoredStellarQuote: {
            /** @description The fee in base units of the token. */
            readonly fee_in_token: components["schemas"]["DecimalString"];
            /** @description The fee in whole tokens. */
            readonly fee_in_token_ui: components["schemas"]["DecimalNumber"];
            /** @description Tokens for one coin. */
            readonly conversion_rate: components["schemas"]["DecimalNumber"];
            /** @description The most that the user authorizes for a smart contract call. */
            readonly max_fee_in_token?: components["schemas"]["DecimalString"];
            /** @description The same in whole tokens. */
            readonly max_fee_in_token_ui?: components["schemas"]["DecimalNumber"];
        };
        /** Sponsored Solana quote */
        readonly SponsoredSolanaQuote: {
            /** @description The fee in whole tokens. */
            readonly estimated_fee: components["schemas"]["DecimalNumber"];
            /** @description Tokens for one coin. */
            readonly conversion_rate: components["schemas"]["DecimalNumber"];
        };
        readonly SponsoredBuildResponse: {
            /** @constant */
            readonly success: true;
            /** @description The build. */
            readonly data: components["schemas"]["SponsoredStellarBuild"] | components["schemas"]["SponsoredSolanaBuild"];
        };
        /** Sponsored Stellar build */
        readonly SponsoredStellarBuild: {
            /** @description The envelope, XDR in base64. */
            readonly transaction: string;
            readonly fee_in_token: components["schemas"]["SponsoredStellarQuote"]["fee_in_token"];
            readonly fee_in_token_ui: components["schemas"]["SponsoredStellarQuote"]["fee_in_token_ui"];
            /** @description The network fee that is paid for. */
            readonly fee_in_stroops: components["schemas"]["DecimalString"];
            /** @description The token. */
            readonly fee_token: string;
            /** @description The last ledger that can include it closes by then. */
            readonly valid_until: components["schemas"]["Timestamp"];
            /** @description The authorization that the user signs for a smart contract call, XDR in base64. */
            readonly user_auth_entry?: string;
            readonly max_fee_in_token?: components["schemas"]["SponsoredStellarQuote"]["max_fee_in_token"];
            readonly max_fee_in_token_ui?: components["schemas"]["SponsoredStellarQuote"]["max_fee_in_token_ui"];
        };
        /** Sponsored Solana build */
        readonly SponsoredSolanaBuild: {
            /** @description The transaction without signatures, base64. */
            readonly transaction: string;
            /** @description The fee in base units of the token. */
            readonly fee_in_spl: components["schemas"]["DecimalString"];
            /** @description The network fee that is paid for. */
            readonly fee_in_lamports: components["schemas"]["DecimalString"];
            /** @description The mint of the token. */
            readonly fee_token: string;
            /** @description The last block height that can include it. */
            readonly valid_until_blockheight: number;
        };
        /** @description A positive decimal number, exact. */
        readonly DecimalNumber: string;
        /**
         * Stellar
         * @description Either `operations`, from which the service builds the transaction, or a prebuilt `transaction_xdr`; not both. Errors that need no look-up on
         *     the ledger are refused immediately, with the path of the field: `operations[2].amount: …`. Every transaction that the service builds expires:
         *     at `valid_until`, or after two minutes if there is none; then the service signs it again.
         */
        readonly StellarTransactionRequest: {
            /**
             * @description The network of the relayer: its name here, its public name (`testnet`, `pubnet`, `futurenet`), either of them by CAIP-2
             *     (`stellar:testnet`), or its passphrase.
             */
            readonly network: string;
            /**
             * @description The source of the operations: the relayer's own account (the default), or that account with a muxed id (`M…`). The service signs for no
             *     other.
             */
            readonly source_account?: components["schemas"]["StellarAccount"] | null;
            /** @description Mutually exclusive with `transaction_xdr`. A smart contract operation must be the only one, without a memo. */
            readonly operations?: readonly components["schemas"]["OperationSpec"][] | null;
            /**
             * @description A prebuilt `TransactionEnvelope` as XDR in base64. Mutually exclusive with `operations`. If it is unsigned, its source is the relayer's
             *     account; the service sets a sequence number, a fee and, if missing, a time bound. If it is externally signed, it needs `fee_bump`, and the
             *     service broadcasts it unchanged.
             */
            readonly transaction_xdr?: string | null;
            /** @description Requests a fee bump, which the relayer pays (CAP-15). Valid only if `transaction_xdr` contains a signed transaction. */
            readonly fee_bump?: boolean | null;
            /**
             * @description The `user_auth_entry` of `buildSponsoredTransaction`, signed by the user, as XDR in base64. Only with the `transaction_xdr` of the same
             *     response, and not with `fee_bump`.
             */
            readonly signed_auth_entry?: string | null;
            /**
             * @description The most that the transaction may cost, inclusion and resources together, in stroops. 1000000 if absent or null. The network charges the
             *     price of the ledger, which is mostly less. A replacement must bid ten times as much as the version that it replaces, plus one operation;
             *     `max_fee` must allow it. Above the relayer's policy `max_fee`, or its default, it is refused with `fee_above_cap`.
             * @default 1000000
             */
            readonly max_fee: components["schemas"]["Int64"] | null;
            /**
             * @description Only with `operations`; a prebuilt transaction has its own. If a payment, a path payment or an `account_merge` goes to an account (`G…`)
             *     that requires a memo (`config.memo_required`, SEP-29), a transaction without one is refused with 400.
             */
            readonly memo?: components["schemas"]["MemoSpec"] | null;
            /** @description When the service begins; see `ValidFrom`. Null counts as absent. */
            readonly valid_from?: components["schemas"]["ValidFrom"] | null;
            readonly when?: components["schemas"]["NoStellarFeeCondition"];
            readonly after?: components["schemas"]["AfterRequest"];
            /**
             * Format: date-time
             * @description RFC 3339. The last ledger that may include it closes by then; seconds are whole. Nodes refuse transactions that expire before two more
             *     ledgers can close, so less than twice the network's `average_blocktime_ms` plus a second is refused with 400; `error` has the earliest
             *     time.
             */
            readonly valid_until?: string | null;
            readonly lane?: components["schemas"]["Lane"];
            readonly reference?: components["schemas"]["Reference"];
            readonly description?: components["schemas"]["Description"];
            readonly idempotency_key?: components["schemas"]["BatchIdempotencyKey"];
        };
        /** @description A memo, told apart by `type`. */
        readonly MemoSpec: components["schemas"]["MemoNone"] | components["schemas"]["MemoText"] | components["schemas"]["MemoId"] | components["schemas"]["MemoHash"] | components["schemas"]["MemoReturn"];
        /** @description No memo. */
        readonly MemoNone: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "none";
        };
        /** @description A text. */
        readonly MemoText: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "text";
            /** @description At most 28 bytes of UTF-8. */
            readonly value: string;
        };
        /** @description A number. */
        readonly MemoId: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "id";
            readonly value: components["schemas"]["Int64"];
        };
        /** @description A hash. */
        readonly MemoHash: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "hash";
            readonly value: components["schemas"]["Bytes32"];
        };
        /** @description The hash of the transaction that is refunded. */
        readonly MemoReturn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "return";
            readonly value: components["schemas"]["Bytes32"];
        };
        /** @description 32 bytes, as an array of integers or in hexadecimal. */
        readonly Bytes32: readonly number[] | string;
        /** @description A Stellar account, `G…`, or a muxed one, `M…`. */
        readonly StellarAccount: string;
        /** @description A Stellar account, `G…`, or a Stellar smart contract, `C…`. */
        readonly StellarAddress: string;
        /** @description An amount in stroops or in the smallest unit of the asset (10^-7). */
        readonly StellarAmount: components["schemas"]["Int64"];
        /** @description An asset. `credit_alphanum4` and `credit_alphanum12` mean the same as `credit4` and `credit12`. */
        readonly StellarAsset: components["schemas"]["StellarNativeAsset"] | components["schemas"]["StellarAlphanum4Asset"] | components["schemas"]["StellarAlphanum12Asset"];
        /** @description Lumens. */
        readonly StellarNativeAsset: {
            /** @constant */
            readonly type: "native";
        };
        /** @description An asset with a code of up to 4 characters. */
        readonly StellarAlphanum4Asset: {
            /**
             * @description An asset with a code of up to 4 characters.
             * @enum {string}
             */
            readonly type: "credit4" | "credit_alphanum4";
            /** @description The code of the asset. */
            readonly code: string;
            readonly issuer: components["schemas"]["StellarAccount"];
        };
        /** @description An asset with a code of 5 to 12 characters. */
        readonly StellarAlphanum12Asset: {
            /**
             * @description An asset with a code of 5 to 12 characters.
             * @enum {string}
             */
            readonly type: "credit12" | "credit_alphanum12";
            /** @description The code of the asset. */
            readonly code: string;
            readonly issuer: components["schemas"]["StellarAccount"];
        };
        /**
         * @description A Stellar operation, told apart by `type`. `invoke_contract`, `create_contract` and `upload_wasm` must be the only operation of their
         *     transaction.
         */
        readonly OperationSpec: components["schemas"]["PaymentOperation"] | components["schemas"]["InvokeContractOperation"] | components["schemas"]["CreateContractOperation"] | components["schemas"]["UploadWasmOperation"] | components["schemas"]["CreateAccountOperation"] | components["schemas"]["ChangeTrustOperation"] | components["schemas"]["PathPaymentStrictSendOperation"] | components["schemas"]["PathPaymentStrictReceiveOperation"] | components["schemas"]["ManageDataOperation"] | components["schemas"]["SetOptionsOperation"] | components["schemas"]["AccountMergeOperation"] | components["schemas"]["CreateClaimableBalanceOperation"] | components["schemas"]["ClaimClaimableBalanceOperation"] | components["schemas"]["BumpSequenceOperation"];
        /**
         * @description Sends an amount of an asset to an account.
         * @example {
         *       "type": "payment",
         *       "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *       "asset": {
         *         "type": "native"
         *       },
         *       "amount": "25000000"
         *     }
         */
        readonly PaymentOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "payment";
            readonly destination: components["schemas"]["StellarAccount"];
            readonly asset: components["schemas"]["StellarAsset"];
            readonly amount: components["schemas"]["StellarAmount"];
        };
        /**
         * @description Calls a function of a smart contract. The service simulates the call, and refuses it with the reason if it would fail.
         * @example {
         *       "type": "invoke_contract",
         *       "contract_address": "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA",
         *       "function_name": "transfer",
         *       "args": [
         *         {
         *           "address": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *         },
         *         {
         *           "address": "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA"
         *         },
         *         {
         *           "i128": "25000000"
         *         }
         *       ]
         *     }
         * @example {
         *       "type": "invoke_contract",
         *       "contract_address": "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA",
         *       "function_name": "transfer",
         *       "named_args": {
         *         "from": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *         "to": "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA",
         *         "amount": "25000000"
         *       }
         *     }
         */
        readonly InvokeContractOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "invoke_contract";
            /** @description The address of the contract. */
            readonly contract_address: string;
            /** @description The function to call. */
            readonly function_name: string;
            /** @description The arguments, in order. Either these or `named_args`. */
            readonly args?: readonly components["schemas"]["ScVal"][];
            /**
             * @description The arguments by their names in the contract's specification, instead of `args`. The service reads the specification from the network: all
             *     endpoints that answer must name the same code, and its hash is checked. It stores only the encoded arguments, which the rules see. With an
             *     `Idempotency-Key`, a repeated request must have the same `named_args`, and needs no node. If no node returns the specification, the
             *     request is refused with `network_unavailable`.
             *
             *     Integers are JSON integers, however large, or decimal strings; addresses are `G…` or `C…`; bytes are hexadecimal digits without `0x`;
             *     symbols and strings are strings; vectors and tuples are lists. A structure is an object, or a list if its fields have no names. A map is
             *     an object, or a list of objects with `key` and `val`. A case of a union is `{"tag": "Transfer", "values": […]}`; one of an enum is its
             *     name or number. An option is its value, or null, and may be omitted; a result is `{"ok": …}`.
             */
            readonly named_args?: {
                readonly [key: string]: unknown;
            };
            readonly auth?: components["schemas"]["SorobanAuth"];
        };
        /**
         * @description Creates a smart contract from uploaded code.
         * @example {
         *       "type": "create_contract",
         *       "source": {
         *         "from": "address",
         *         "address": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *       },
         *       "wasm_hash": "3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a",
         *       "constructor_args": [
         *         {
         *           "u32": 7
         *         }
         *       ]
         *     }
         */
        readonly CreateContractOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "create_contract";
            readonly source: components["schemas"]["ContractCreator"];
            /** @description 32 bytes in hexadecimal. */
            readonly wasm_hash: string;
            /** @description 32 bytes in hexadecimal; zeros by default. */
            readonly salt?: string;
            /** @description The arguments of the constructor, in order. */
            readonly constructor_args?: readonly components["schemas"]["ScVal"][];
            readonly auth?: components["schemas"]["SorobanAuth"];
        };
        /** @description The creator of the contract; together with `salt` it determines the contract's address. */
        readonly ContractCreator: components["schemas"]["AccountAsCreator"] | components["schemas"]["ContractAsCreator"];
        /** @description An account that creates a smart contract. */
        readonly AccountAsCreator: {
            /** @constant */
            readonly from: "address";
            readonly address: components["schemas"]["StellarAccount"];
        };
        /** @description A smart contract that creates another one. */
        readonly ContractAsCreator: {
            /** @constant */
            readonly from: "contract";
            /** @description The contract that creates it. */
            readonly contract: string;
        };
        /**
         * @description Uploads the code of smart contracts, at most 131072 bytes of WebAssembly.
         * @example {
         *       "type": "upload_wasm",
         *       "wasm": {
         *         "hex": "0061736d01000000"
         *       }
         *     }
         */
        readonly UploadWasmOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "upload_wasm";
            readonly wasm: components["schemas"]["WasmCode"];
            readonly auth?: components["schemas"]["SorobanAuth"];
        };
        /** @description The code, in hexadecimal or base64. */
        readonly WasmCode: components["schemas"]["WasmInHex"] | components["schemas"]["WasmInBase64"];
        /** @description Code of smart contracts in hexadecimal. */
        readonly WasmInHex: {
            /** @description The code in hexadecimal. */
            readonly hex: string;
        };
        /** @description Code of smart contracts in base64. */
        readonly WasmInBase64: {
            /** @description The code in base64. */
            readonly base64: string;
        };
        /**
         * @description Creates an account with its first lumens, at least the network's reserve.
         * @example {
         *       "type": "create_account",
         *       "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *       "starting_balance": "20000000"
         *     }
         */
        readonly CreateAccountOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "create_account";
            readonly destination: components["schemas"]["StellarAccount"];
            readonly starting_balance: components["schemas"]["StellarAmount"];
        };
        /**
         * @description Creates, changes or removes the trust line that the account needs to hold an asset.
         * @example {
         *       "type": "change_trust",
         *       "asset": {
         *         "type": "credit4",
         *         "code": "EUR",
         *         "issuer": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *       },
         *       "limit": "10000000000"
         *     }
         */
        readonly ChangeTrustOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "change_trust";
            readonly asset: components["schemas"]["StellarAsset"];
            /** @description The maximum by default; 0 removes the trust line. */
            readonly limit?: components["schemas"]["StellarAmount"];
        };
        /**
         * @description Sends exactly `send_amount` of one asset, exchanged on the way, so that at least `dest_min` of another arrives.
         * @example {
         *       "type": "path_payment_strict_send",
         *       "send_asset": {
         *         "type": "native"
         *       },
         *       "send_amount": "25000000",
         *       "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *       "dest_asset": {
         *         "type": "credit4",
         *         "code": "EUR",
         *         "issuer": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *       },
         *       "dest_min": "10000000"
         *     }
         */
        readonly PathPaymentStrictSendOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "path_payment_strict_send";
            readonly send_asset: components["schemas"]["StellarAsset"];
            readonly send_amount: components["schemas"]["StellarAmount"];
            readonly destination: components["schemas"]["StellarAccount"];
            readonly dest_asset: components["schemas"]["StellarAsset"];
            readonly dest_min: components["schemas"]["StellarAmount"];
            /** @description Assets that the exchange passes through, in order. */
            readonly path?: readonly components["schemas"]["StellarAsset"][];
        };
        /**
         * @description Lets exactly `dest_amount` of one asset arrive, exchanged on the way, for at most `send_max` of another.
         * @example {
         *       "type": "path_payment_strict_receive",
         *       "send_asset": {
         *         "type": "native"
         *       },
         *       "send_max": "25000000",
         *       "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *       "dest_asset": {
         *         "type": "credit4",
         *         "code": "EUR",
         *         "issuer": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *       },
         *       "dest_amount": "10000000"
         *     }
         */
        readonly PathPaymentStrictReceiveOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "path_payment_strict_receive";
            readonly send_asset: components["schemas"]["StellarAsset"];
            readonly send_max: components["schemas"]["StellarAmount"];
            readonly destination: components["schemas"]["StellarAccount"];
            readonly dest_asset: components["schemas"]["StellarAsset"];
            readonly dest_amount: components["schemas"]["StellarAmount"];
            /** @description Assets that the exchange passes through, in order. */
            readonly path?: readonly components["schemas"]["StellarAsset"][];
        };
        /**
         * @description Writes, changes or deletes an entry of the account's own data.
         * @example {
         *       "type": "manage_data",
         *       "name": "greeting",
         *       "value": "aGVsbG8="
         *     }
         */
        readonly ManageDataOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "manage_data";
            /** @description The name of the entry. */
            readonly name: string;
            /** @description At most 64 bytes in base64; null deletes the entry. */
            readonly value: string | null;
        };
        /**
         * @description Changes the account's signers, thresholds, flags and domain; absent fields stay the same. If the relayer's weight becomes too low, the service
         *     is locked out.
         * @example {
         *       "type": "set_options",
         *       "home_domain": "example.com"
         *     }
         */
        readonly SetOptionsOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "set_options";
            readonly inflation_destination?: components["schemas"]["StellarAccount"];
            /** @description The account flags to clear, as a sum. */
            readonly clear_flags?: number;
            /** @description The account flags to set, as a sum. */
            readonly set_flags?: number;
            /** @description The weight of the account's own key. */
            readonly master_weight?: number;
            /** @description The weight that operations of low security need. */
            readonly low_threshold?: number;
            /** @description The weight that operations of medium security need. */
            readonly medium_threshold?: number;
            /** @description The weight that operations of high security need. */
            readonly high_threshold?: number;
            /** @description The domain that describes the account. */
            readonly home_domain?: string;
            /** @description A signer to add, change, or remove with the weight 0. */
            readonly signer?: {
                /** @description `G…`, `T…`, `X…` or `P…`. */
                readonly key: string;
                /** @description The weight of the signer. */
                readonly weight: number;
            };
        };
        /**
         * @description Closes the relayer's account, and gives all of its lumens to another one.
         * @example {
         *       "type": "account_merge",
         *       "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
         *     }
         */
        readonly AccountMergeOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "account_merge";
            readonly destination: components["schemas"]["StellarAccount"];
        };
        /**
         * @description Creates a claimable balance, which each claimant can claim under its condition.
         * @example {
         *       "type": "create_claimable_balance",
         *       "asset": {
         *         "type": "native"
         *       },
         *       "amount": "25000000",
         *       "claimants": [
         *         {
         *           "destination": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
         *           "predicate": {
         *             "not": {
         *               "before_relative_time": "3600"
         *             }
         *           }
         *         }
         *       ]
         *     }
         */
        readonly CreateClaimableBalanceOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "create_claimable_balance";
            readonly asset: components["schemas"]["StellarAsset"];
            readonly amount: components["schemas"]["StellarAmount"];
            /** @description The accounts that may claim it. */
            readonly claimants: readonly {
                readonly destination: components["schemas"]["StellarAccount"];
                readonly predicate?: components["schemas"]["ClaimPredicate"];
            }[];
        };
        /** @description When the balance can be claimed; at any time by default. Exactly one of the fields. */
        readonly ClaimPredicate: {
            /** @constant */
            readonly unconditional?: true;
            /** @description Unix time in seconds. */
            readonly before_absolute_time?: components["schemas"]["Int64"];
            /** @description Seconds after the creation of the balance. */
            readonly before_relative_time?: components["schemas"]["Int64"];
            readonly not?: components["schemas"]["ClaimPredicate"];
            /** @description Both must hold. */
            readonly and?: readonly components["schemas"]["ClaimPredicate"][];
            /** @description One of the two must hold. */
            readonly or?: readonly components["schemas"]["ClaimPredicate"][];
        };
        /**
         * @description Claims a claimable balance for the account.
         * @example {
         *       "type": "claim_claimable_balance",
         *       "balance_id": "000000003f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a"
         *     }
         */
        readonly ClaimClaimableBalanceOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "claim_claimable_balance";
            /** @description 72 hexadecimal digits: the type and 32 bytes. */
            readonly balance_id: string;
        };
        /**
         * @description Raises the account's sequence number to the given one; a lower one changes nothing. At most 9223372032559808511: after the largest number the
         *     account could never send anything again.
         * @example {
         *       "type": "bump_sequence",
         *       "bump_to": "0"
         *     }
         */
        readonly BumpSequenceOperation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "bump_sequence";
            readonly bump_to: components["schemas"]["Int64"];
        };
        /**
         * @description The authorisation of the call. `source_account`, the default: the relayer's own account, if the simulation needs it. `none`: a call that needs
         *     any authorisation is refused. `xdr`: signed entries of all who must authorise. `addresses` is refused with `not_supported`, because the
         *     service does not have their keys.
         */
        readonly SorobanAuth: components["schemas"]["SorobanAuthBySource"] | components["schemas"]["SorobanAuthByAddresses"] | components["schemas"]["SorobanAuthByXdr"];
        /** @description Authorised by the relayer's own account, or not at all. */
        readonly SorobanAuthBySource: {
            /**
             * @description The kind of authorisation.
             * @enum {string}
             */
            readonly type: "none" | "source_account";
        };
        /** @description Others authorise. Refused with `not_supported`. */
        readonly SorobanAuthByAddresses: {
            /** @constant */
            readonly type: "addresses";
            /** @description The addresses that authorise. */
            readonly signers: readonly components["schemas"]["StellarAddress"][];
        };
        /** @description Entries signed by all who must authorise. */
        readonly SorobanAuthByXdr: {
            /** @constant */
            readonly type: "xdr";
            /** @description Authorization entries as XDR in base64. */
            readonly entries: readonly string[];
        };
        /**
         * @description An argument of a Stellar smart contract, which is the word `void`, or an object with exactly one field that names the type. Integers wider
         *     than 32 bits may be decimal strings. A map whose keys are all integers, symbols, strings, bytes or addresses may come in any order.
         */
        readonly ScVal: "void" | components["schemas"]["TypedScVal"];
        /** @description A value whose one field names its type. */
        readonly TypedScVal: {
            /** @description True or false. */
            readonly bool?: boolean;
            /** @description An unsigned 32-bit integer. */
            readonly u32?: number;
            /** @description A signed 32-bit integer. */
            readonly i32?: number;
            readonly u64?: components["schemas"]["Uint64"];
            readonly i64?: components["schemas"]["SignedInt64"];
            readonly timepoint?: components["schemas"]["Uint64"];
            readonly duration?: components["schemas"]["Uint64"];
            readonly u128?: components["schemas"]["ScU128"];
            readonly i128?: components["schemas"]["ScI128"];
            readonly u256?: components["schemas"]["ScU256"];
            readonly i256?: components["schemas"]["ScI256"];
            /** @description Bytes in hexadecimal, without `0x`. */
            readonly bytes?: string;
            /** @description A text. */
            readonly string?: string;
            /** @description A symbol of at most 32 characters. */
            readonly symbol?: string;
            readonly address?: components["schemas"]["StellarAddress"];
            /** @description A list of values. */
            readonly vec?: readonly components["schemas"]["ScVal"][];
            /** @description A list of keys with their values. */
            readonly map?: readonly {
                readonly key: components["schemas"]["ScVal"];
                readonly val: components["schemas"]["ScVal"];
            }[];
        };
        /**
         * Format: uint64
         * @description An unsigned 64-bit integer, as a JSON integer or as a decimal string.
         */
        readonly Uint64: bigint;
        /**
         * Format: sint64
         * @description A signed 64-bit integer, as a JSON integer or as a decimal string.
         */
        readonly SignedInt64: bigint;
        /** @description An unsigned 128-bit integer in two parts. */
        readonly ScU128Parts: {
            readonly hi: components["schemas"]["Uint64"];
            readonly lo: components["schemas"]["Uint64"];
        };
        /** @description An unsigned 128-bit integer in two parts, or whole in decimal digits. */
        readonly ScU128: components["schemas"]["ScU128Parts"] | string;
        /** @description A signed 128-bit integer in two parts. */
        readonly ScI128Parts: {
            readonly hi: components["schemas"]["SignedInt64"];
            readonly lo: components["schemas"]["Uint64"];
        };
        /** @description A signed 128-bit integer in two parts, or whole in decimal digits. */
        readonly ScI128: components["schemas"]["ScI128Parts"] | string;
        /** @description An unsigned 256-bit integer in four parts. */
        readonly ScU256Parts: {
            readonly hi_hi: components["schemas"]["Uint64"];
            readonly hi_lo: components["schemas"]["Uint64"];
            readonly lo_hi: components["schemas"]["Uint64"];
            readonly lo_lo: components["schemas"]["Uint64"];
        };
        /** @description An unsigned 256-bit integer in four parts, or whole in decimal digits. */
        readonly ScU256: components["schemas"]["ScU256Parts"] | string;
        /** @description A signed 256-bit integer in four parts. */
        readonly ScI256Parts: {
            readonly hi_hi: components["schemas"]["SignedInt64"];
            readonly hi_lo: components["schemas"]["Uint64"];
            readonly lo_hi: components["schemas"]["Uint64"];
            readonly lo_lo: components["schemas"]["Uint64"];
        };
        /** @description A signed 256-bit integer in four parts, or whole in decimal digits. */
        readonly ScI256: components["schemas"]["ScI256Parts"] | string;
        /** @description The health of the service and of its parts. */
        readonly Readiness: {
            /** @description False exactly when `status` is `unhealthy`. */
            readonly ready: boolean;
            readonly status: components["schemas"]["HealthStatus"];
            /** @description The parts that are not healthy. Absent if all are. */
            readonly reason?: string;
            /** @description The health of each part. */
            readonly components: {
                /** @description Healthy if the database takes a write and ends its commit. */
                readonly database: components["schemas"]["DatabaseHealth"];
                /** @description Healthy if a node answers for each network, with the right chain id. */
                readonly networks: components["schemas"]["ComponentHealth"];
                /** @description Healthy if the workers make progress. */
                readonly workers: components["schemas"]["ComponentHealth"];
                /** @description Healthy if no relayer is disabled. `error` says how many are, and why, but not which. Never `unhealthy`: the others work. */
                readonly relayers: components["schemas"]["ComponentHealth"];
            };
            /** @description When this was checked. */
            readonly timestamp: components["schemas"]["Timestamp"];
        };
        /**
         * @description The health of the service or of a part.
         * @enum {string}
         */
        readonly HealthStatus: "healthy" | "degraded" | "unhealthy";
        /** @description The health of the database. */
        readonly DatabaseHealth: {
            readonly status: components["schemas"]["HealthStatus"];
            /** @description The reason if it is not healthy. */
            readonly error?: string;
            /**
             * @description `full`: answered requests survive a power cut. `relaxed`: they survive only a killed process (`DURABILITY=relaxed`, or a PostgreSQL
             *     without `fsync` or `synchronous_commit`), and nothing survives the process if the database is in memory (`DATA_DIR=memory://`). Absent if
             *     the database does not answer.
             * @enum {string}
             */
            readonly durability?: "full" | "relaxed";
            /**
             * @description What the standbys of a PostgreSQL server have of an answered request. `synchronous`: at least one has it. `asynchronous`: there are some,
             *     and none must have it. `interrupted`: one must, and none is there. `none`: the server knows none, as with a copy of its disk.
             *     `unknown`: the user of the service lacks the role `pg_monitor`. Absent for the embedded database, and if the database does not answer.
             * @enum {string}
             */
            readonly replication?: "synchronous" | "asynchronous" | "interrupted" | "none" | "unknown";
        };
        /** @description The health of a part. */
        readonly ComponentHealth: {
            readonly status: components["schemas"]["HealthStatus"];
            /** @description The reason if it is not healthy. */
            readonly error?: string;
            /** @description One entry for each part of the component. */
            readonly details?: readonly {
                /** @description The name of the part. */
                readonly name: string;
                readonly status: components["schemas"]["HealthStatus"];
                /** @description The reason if it is not healthy. */
                readonly error?: string;
            }[];
        };
    };
    responses: {
        /** @description The relayer as it is now. */
        readonly Relayer: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["RelayerResponse"];
            };
        };
        /** @description The new relayer. */
        readonly RelayerCreated: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["RelayerResponse"];
            };
        };
        /** @description The ABI of a contract. */
        readonly ContractAbi: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ContractAbiResponse"];
            };
        };
        /** @description The session has ended. */
        readonly SessionEnded: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["DeletionResponse"];
            };
        };
        /** @description The approval as it is now. */
        readonly Approval: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ApprovalResponse"];
            };
        };
        /** @description The known facts about the transaction, and the next step. */
        readonly Diagnosis: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["DiagnosisResponse"];
            };
        };
        /** @description The schedule as it is now. */
        readonly Schedule: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ScheduleResponse"];
            };
        };
        /** @description The transaction as it is now, or, with `dry_run`, what would happen. */
        readonly TransactionOrDryRun: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TransactionOrDryRunResponse"];
            };
        };
        /** @description The transaction as it is now. */
        readonly Transaction: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TransactionResponse"];
            };
        };
        /** @description The request cannot be served, and nothing was changed. `code` says why for programs, `error` for people. */
        readonly BadRequest: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["BadRequestFailure"];
            };
        };
        /** @description The request has no valid credential. The response reveals nothing else. */
        readonly Unauthorized: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /**
                 * @description The scheme to use.
                 * @example Bearer
                 */
                readonly "WWW-Authenticate": "Bearer";
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["UnauthorizedFailure"];
            };
        };
        /**
         * @description The request has no valid credential, or (code `insufficient_scope`) its API key may not do this. For compatibility with existing clients, this
         *     operation has no 403.
         */
        readonly UnauthorizedOrInsufficientScope: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /**
                 * @description The scheme to use.
                 * @example Bearer
                 */
                readonly "WWW-Authenticate": "Bearer";
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["UnauthorizedOrInsufficientScopeFailure"];
            };
        };
        /** @description The API key may not do this. */
        readonly Forbidden: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ForbiddenFailure"];
            };
        };
        /** @description The API key may not do this, or sent the transaction itself. */
        readonly ForbiddenToDecide: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ForbiddenToDecideFailure"];
            };
        };
        /** @description The transaction no longer waits for an approval. */
        readonly AlreadyDecided: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["AlreadyDecidedFailure"];
            };
        };
        /** @description The key as it is now. */
        readonly ApiKey: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ApiKeyResponse"];
            };
        };
        /** @description The plugin as it is now. */
        readonly Plugin: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["PluginResponse"];
            };
        };
        /** @description The result of the handler, in the envelope or, with `raw_response`, as it is. */
        readonly PluginResult: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["PluginResult"];
            };
        };
        /** @description The plugin failed, with the status that it chose, or the service refused the call. 429 and 503 have `Retry-After` if the service decided them. */
        readonly PluginFailure: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["PluginFailure"];
            };
        };
        /** @description The record does not exist, or has no such transaction or delivery. */
        readonly NotFound: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["NotFoundFailure"];
            };
        };
        /** @description The request conflicts with the current state. Nothing was changed. */
        readonly Conflict: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ConflictFailure"];
            };
        };
        /** @description The caller is over its rate limit, or has too many unread response bytes. Nothing was changed. */
        readonly TooManyRequests: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /**
                 * @description Seconds to wait before the next request.
                 * @example 1
                 */
                readonly "Retry-After": number;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TooManyRequestsFailure"];
            };
        };
        /** @description The service failed. The body reveals no internals; `X-Request-Id` identifies the log entry. */
        readonly InternalServerError: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InternalServerErrorFailure"];
            };
        };
        /**
         * @description The database cannot be reached at the moment, for example during a failover. A change may still have taken effect if the connection was lost
         *     during its commit: repeat the request with the same `Idempotency-Key`, or check first. Or a plugin that has to be asked does not answer;
         *     then nothing was done.
         */
        readonly ServiceUnavailable: {
            headers: {
                readonly "X-Request-Id": components["headers"]["RequestId"];
                readonly RateLimit: components["headers"]["RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /**
                 * @description Seconds to wait before the next request.
                 * @example 1
                 */
                readonly "Retry-After": number;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ServiceUnavailableFailure"];
            };
        };
        /** @description The receiver accepted the event. The body is ignored. */
        readonly WebhookTaken: {
            headers: {
                readonly [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The receiver wants no further events; the service pauses the notification. */
        readonly WebhookGone: {
            headers: {
                readonly [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The receiver has too many requests. The service waits as `Retry-After` says. */
        readonly WebhookLater: {
            headers: {
                readonly [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /**
         * @description Id of the relayer. An unknown id is Not found.
         * @example local-1
         */
        readonly RelayerId: components["schemas"]["Id"];
        /**
         * @description The address of the contract.
         * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
         */
        readonly ContractAddress: components["schemas"]["EvmAddress"];
        /**
         * @description Id of the transaction. A transaction of another relayer is Not found.
         * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
         */
        readonly TransactionId: components["schemas"]["Id"];
        /**
         * @description A nonce of the relayer's account. Anything else than an integer in this range is refused.
         * @example 42
         */
        readonly Nonce: components["schemas"]["Int64"];
        /**
         * @description Your own name for this request, 1 to 255 visible ASCII characters; such as a UUID. It is used as is, including quotes.
         * @example 8e03978e-40d5-43e8-bc93-6894a57f9324
         */
        readonly IdempotencyKey: string;
        /**
         * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
         *     Give an opaque id: it is stored with what was spent.
         * @example user-1017
         */
        readonly UserId: string;
        /**
         * @description Refused here, because each item of the list has its own `idempotency_key`.
         * @example
         */
        readonly RefusedIdempotencyKey: "";
        /**
         * @description With `true`, nothing is stored, signed, counted or sent: the response is a `DryRun` of what would happen.
         * @example true
         */
        readonly DryRun: boolean;
        /**
         * @description Delays the response until the transaction has this status or a later one, such as `failed`, or `timeout` is over. Either way it is 200 with the transaction as it is then. A dry run does not wait.
         * @example mined
         */
        readonly Wait: "submitted" | "mined" | "confirmed";
        /**
         * @description The longest `wait`, in seconds. The response always comes before `REQUEST_TIMEOUT_SECONDS` (default 30) have passed.
         * @example 20
         */
        readonly WaitTimeout: number;
        /**
         * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
         * @example 1
         */
        readonly Page: number;
        /**
         * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
         * @example 10
         */
        readonly PerPage: number;
        /**
         * @description Only transactions with this status. Case-insensitive.
         * @example submitted
         */
        readonly Status: components["schemas"]["TransactionStatus"];
        /**
         * @description Id of the notification. An unknown id is Not found.
         * @example ops
         */
        readonly NotificationId: components["schemas"]["Id"];
        /**
         * @description Id of the signer. An unknown id is Not found.
         * @example hot
         */
        readonly SignerId: components["schemas"]["Id"];
        /**
         * @description Id of the API key. An unknown id is Not found.
         * @example payments
         */
        readonly ApiKeyId: components["schemas"]["Id"];
        /**
         * @description Id of the session. An unknown id is Not found.
         * @example 8f14e45f-ceea-467f-9a0b-3c1d2e4f5a6b
         */
        readonly SessionId: components["schemas"]["Id"];
        /**
         * @description Id of the proposal. An unknown id is Not found.
         * @example 0f9d2b1c-5e7a-4c3d-8b6f-1a2b3c4d5e6f
         */
        readonly ProposalId: components["schemas"]["Id"];
        /**
         * @description Id of the schedule. An unknown id is Not found.
         * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
         */
        readonly ScheduleId: components["schemas"]["Id"];
        /**
         * @description Id of the plugin. An unknown id is Not found.
         * @example payout
         */
        readonly PluginId: components["schemas"]["Id"];
        /**
         * @description The rest of the path, which the plugin interprets. Slashes in it may be sent as they are.
         * @example verify
         */
        readonly PluginRoute: string;
        /**
         * @description The route for the handler if the path has none.
         * @example /verify
         */
        readonly PluginRouteQuery: string;
        /**
         * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
         * @example {
         *       "currency": "EUR"
         *     }
         */
        readonly PluginQuery: {
            readonly [key: string]: unknown;
        };
        /**
         * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
         * @example evm:sepolia
         */
        readonly NetworkId: string;
        /**
         * @description Id of the delivery. A delivery of another notification is Not found.
         * @example 01a3c2f4-77aa-8c10-8000-0000000004b4
         */
        readonly DeliveryId: components["schemas"]["Id"];
        /**
         * @description The number of the last event that you know. If `0` or absent, the list begins with the oldest stored event.
         * @example 1204
         */
        readonly After: components["schemas"]["EventNumber"];
        /**
         * @description Only events about this relayer.
         * @example local-1
         */
        readonly EventRelayer: components["schemas"]["Id"];
        /**
         * @description Only events of this type. Case-insensitive.
         * @example transaction_update
         */
        readonly EventType: components["schemas"]["EventType"];
        /**
         * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
         * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
         */
        readonly XSignature: string;
        /**
         * @description The same with the previous signing key, during the overlap of a rotation.
         * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
         */
        readonly XSignaturePrevious: string;
        /**
         * @description The `id` of the body; the same on every attempt.
         * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
         */
        readonly WebhookId: components["schemas"]["Uuid"];
        /**
         * @description When this attempt was sent, in seconds since 1970.
         * @example 1795255200
         */
        readonly WebhookTimestamp: string;
        /**
         * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
         *     hyphens, so the receiver can continue the trace.
         * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
         */
        readonly WebhookTraceParent: string;
        /**
         * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
         * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
         */
        readonly WebhookSignature: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Names this request in the log of the service.
         * @example 5f0c2f2e-6a0b-4a6e-9d61-4f0f6a2f9c11
         */
        readonly RequestId: string;
        /**
         * @description The rest of the rate limit: `r` requests can be sent now, and after `t` idle seconds the quota is full again, or, after a 429, one request can be sent. Other processes may have just used some of them. Absent if no limit counts the request. The syntax is that of draft-ietf-httpapi-ratelimit-headers-10.
         * @example "requests";r=299;t=1
         */
        readonly RateLimit: string;
        /**
         * @description The rate limit: bursts of `q` requests, refilled every `w` seconds; per API key, in all processes together. Present if `RateLimit` is.
         * @example "requests";q=300;w=3
         */
        readonly RateLimitPolicy: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The process is alive. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": "OK";
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly getReadiness: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Requests can be taken. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 500: components["responses"]["InternalServerError"];
            /** @description Requests cannot be accepted now. */
            readonly 503: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    readonly getVersion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The version. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VersionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listMetrics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The metrics, or their names. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": components["schemas"]["MetricsText"];
                    readonly "application/json": readonly string[];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly metricDetail: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description The name of the metric, as `listMetrics` lists it. Anything else is Not found.
                 * @example relayer_balance
                 */
                readonly metric_name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The metric. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": components["schemas"]["MetricsText"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly scrapeMetrics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The metrics. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": components["schemas"]["MetricsText"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly listRelayers: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of relayers. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RelayerListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["UnauthorizedOrInsufficientScope"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly createRelayer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateRelayerRequest"];
            };
        };
        readonly responses: {
            readonly 201: components["responses"]["RelayerCreated"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getRelayer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Relayer"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteRelayer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The relayer was deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RelayerDeletedResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updateRelayer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/merge-patch+json": components["schemas"]["UpdateRelayerRequest"];
                readonly "application/json": components["schemas"]["UpdateRelayerRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Relayer"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly acceptNonces: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["AcceptNoncesRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Relayer"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getRelayerStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The state of the relayer. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RelayerStatusResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getRelayerBalance: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The balance. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RelayerBalanceResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getRelayerUsage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What was spent. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SpendingUsageResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listAbis: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of contracts. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AbiListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getAbi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description The address of the contract.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly address: components["parameters"]["ContractAddress"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["ContractAbi"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly registerAbi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description The address of the contract.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly address: components["parameters"]["ContractAddress"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RegisterAbiRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["ContractAbi"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteAbi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description The address of the contract.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly address: components["parameters"]["ContractAddress"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The relayer was deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly signMessage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignRequest"];
            };
        };
        readonly responses: {
            /** @description The signature. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["UnauthorizedOrInsufficientScope"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly signTypedData: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignTypedDataRequest"];
            };
        };
        readonly responses: {
            /** @description The signature. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly signTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignTransactionRequest"];
            };
        };
        readonly responses: {
            /** @description The signed transaction. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignedTransactionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly signAuthorizationEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignAuthorizationEntryRequest"];
            };
        };
        readonly responses: {
            /** @description The signature. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly callRpc: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RpcRequest"];
            };
        };
        readonly responses: {
            /** @description The response of the network, or of the service in its place. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RpcResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly searchTransactions: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only transactions with this status. Case-insensitive.
                 * @example submitted
                 */
                readonly status?: components["parameters"]["Status"];
                /**
                 * @description Only the transaction with this id, if you do not know its relayer.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly id?: components["schemas"]["Id"];
                /**
                 * @description Only the transaction that has an attempt with this hash, whichever attempt it is. On Solana it is the signature of the transaction.
                 * @example 0x4e3b2a1908f7e6d5c4b3a29181706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e
                 */
                readonly hash?: string;
                /**
                 * @description Only transactions of this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["schemas"]["Id"];
                /**
                 * @description Only transactions of relayers on networks of this type.
                 * @example evm
                 */
                readonly network_type?: components["schemas"]["NetworkType"];
                /**
                 * @description Only transactions with a transfer to this account, of tokens, too, and EVM transactions that were sent to this address. On EVM the letter
                 *     case does not matter. On Solana, a token account receives tokens, unless the transaction itself opens it: then its owner does. It counts
                 *     what was requested, also before a replacement, a cancellation or a failure, and what the receipt tells.
                 * @example 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
                 */
                readonly to?: string;
                /**
                 * @description Only transactions with a transfer of this asset, as `transfers` name it: `native`, the address of a token, mint or contract, or
                 *     `CODE:ISSUER`. With `to`, the transfer is to this account.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly asset?: components["schemas"]["SpendingLimit"]["asset"];
                /**
                 * @description Only transactions with a transfer of `asset` of at least this amount, in its smallest unit.
                 * @example 1000000
                 */
                readonly min_amount?: string;
                /**
                 * @description Only transactions with a transfer of `asset` of at most this amount, in its smallest unit.
                 * @example 2000000
                 */
                readonly max_amount?: string;
                /**
                 * @description Only transactions with this `reference`.
                 * @example invoice-1017
                 */
                readonly reference?: components["schemas"]["Reference"];
                /**
                 * @description Only transactions that the API key with this id sent; `root` is the key of the environment, `service` sends top-ups.
                 * @example root
                 */
                readonly requested_by?: components["schemas"]["Id"];
                /**
                 * @description Only transactions for this user, whom the header `User-Id` of the request named.
                 * @example user-1017
                 */
                readonly user_id?: string;
                /**
                 * @description Only the transaction that this API key sent with the idempotency key. It belongs to one relayer, so it needs `relayer_id`. The key of the
                 *     environment finds the transactions of every API key.
                 * @example invoice-1017
                 */
                readonly idempotency_key?: string;
                /**
                 * @description Only transactions created at or after this time.
                 * @example 2026-11-20T00:00:00Z
                 */
                readonly created_after?: string;
                /**
                 * @description Only transactions created before this time.
                 * @example 2026-11-21T00:00:00Z
                 */
                readonly created_before?: string;
                /**
                 * @description The `pagination.next_cursor` of an earlier response; the list continues there. Treat it as opaque. An invalid cursor is refused.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly cursor?: string;
                /**
                 * @description The maximum number of transactions in one response. Above 100 is served as 100.
                 * @example 50
                 */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A part of the list. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransactionSearchResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listTransactions: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
                /**
                 * @description Only transactions with this status. Case-insensitive.
                 * @example submitted
                 */
                readonly status?: components["parameters"]["Status"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of transactions. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransactionListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly sendTransaction: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description With `true`, nothing is stored, signed, counted or sent: the response is a `DryRun` of what would happen.
                 * @example true
                 */
                readonly dry_run?: components["parameters"]["DryRun"];
                /**
                 * @description Delays the response until the transaction has this status or a later one, such as `failed`, or `timeout` is over. Either way it is 200 with the transaction as it is then. A dry run does not wait.
                 * @example mined
                 */
                readonly wait?: components["parameters"]["Wait"];
                /**
                 * @description The longest `wait`, in seconds. The response always comes before `REQUEST_TIMEOUT_SECONDS` (default 30) have passed.
                 * @example 20
                 */
                readonly timeout?: components["parameters"]["WaitTimeout"];
                /**
                 * @description Like the policy of this name, for this request: 429 if its turn would come later. The lower of the two counts.
                 * @example 60
                 */
                readonly max_queue_seconds?: number;
            };
            readonly header?: {
                /**
                 * @description Your own name for this request, 1 to 255 visible ASCII characters; such as a UUID. It is used as is, including quotes.
                 * @example 8e03978e-40d5-43e8-bc93-6894a57f9324
                 */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["TransactionOrDryRun"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly sendTransactionBatch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Refused here, because each item of the list has its own `idempotency_key`.
                 * @example
                 */
                readonly "Idempotency-Key"?: components["parameters"]["RefusedIdempotencyKey"];
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionBatchRequest"];
            };
        };
        readonly responses: {
            /** @description The transactions in the order of the items. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransactionBatchResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly quoteSponsoredTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SponsoredTransactionRequest"];
            };
        };
        readonly responses: {
            /** @description The quote. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SponsoredQuoteResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly buildSponsoredTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SponsoredTransactionRequest"];
            };
        };
        readonly responses: {
            /** @description The transaction to sign. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SponsoredBuildResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getTransactionByNonce: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description A nonce of the relayer's account. Anything else than an integer in this range is refused.
                 * @example 42
                 */
                readonly nonce: components["parameters"]["Nonce"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Transaction"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deletePendingTransactions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The outcome for each of them. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PendingCancellationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly decideTransactions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionDecisionsRequest"];
            };
        };
        readonly responses: {
            /** @description The outcome for each of them. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransactionDecisionsResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getTransactionById: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Delays the response until the transaction has this status or a later one, such as `failed`, or `timeout` is over. Either way it is 200 with the transaction as it is then. A dry run does not wait.
                 * @example mined
                 */
                readonly wait?: components["parameters"]["Wait"];
                /**
                 * @description The longest `wait`, in seconds. The response always comes before `REQUEST_TIMEOUT_SECONDS` (default 30) have passed.
                 * @example 20
                 */
                readonly timeout?: components["parameters"]["WaitTimeout"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Transaction"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly replaceTransaction: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description With `true`, nothing is stored, signed, counted or sent: the response is a `DryRun` of what would happen.
                 * @example true
                 */
                readonly dry_run?: components["parameters"]["DryRun"];
                /**
                 * @description Delays the response until the transaction has this status or a later one, such as `failed`, or `timeout` is over. Either way it is 200 with the transaction as it is then. A dry run does not wait.
                 * @example mined
                 */
                readonly wait?: components["parameters"]["Wait"];
                /**
                 * @description The longest `wait`, in seconds. The response always comes before `REQUEST_TIMEOUT_SECONDS` (default 30) have passed.
                 * @example 20
                 */
                readonly timeout?: components["parameters"]["WaitTimeout"];
            };
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["TransactionOrDryRun"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["UnauthorizedOrInsufficientScope"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly cancelTransaction: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Delays the response until the transaction has this status or a later one, such as `failed`, or `timeout` is over. Either way it is 200 with the transaction as it is then. A dry run does not wait.
                 * @example mined
                 */
                readonly wait?: components["parameters"]["Wait"];
                /**
                 * @description The longest `wait`, in seconds. The response always comes before `REQUEST_TIMEOUT_SECONDS` (default 30) have passed.
                 * @example 20
                 */
                readonly timeout?: components["parameters"]["WaitTimeout"];
                /**
                 * @description With `true`, a signed transaction is not canceled.
                 * @example true
                 */
                readonly unsigned_only?: boolean;
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Transaction"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly decideTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionDecision"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Transaction"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly diagnoseTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Diagnosis"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getTransactionReceipt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The receipt. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TransactionReceiptResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getApproval: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description With `true`, the answer says what would happen if it were approved now (`dry_run`).
                 * @example true
                 */
                readonly simulate?: boolean;
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Approval"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly decideApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the transaction. A transaction of another relayer is Not found.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id: components["parameters"]["TransactionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ApprovalDecision"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Approval"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["ForbiddenToDecide"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["AlreadyDecided"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listApprovals: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only approvals in this state.
                 * @example waiting
                 */
                readonly state?: components["schemas"]["ApprovalState"];
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of approvals. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApprovalListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listSchedules: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only those of this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["schemas"]["Id"];
                /**
                 * @description Only those in this state.
                 * @example active
                 */
                readonly state?: components["schemas"]["ScheduleState"];
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of schedules. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScheduleListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createSchedule: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description With `true`, nothing is stored, signed, counted or sent: the response is a `DryRun` of what would happen.
                 * @example true
                 */
                readonly dry_run?: components["parameters"]["DryRun"];
            };
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateScheduleRequest"];
            };
        };
        readonly responses: {
            /** @description The schedule, or, with `dry_run`, what would happen. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScheduleOrDryRunResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Schedule"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updateSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description The user of yours for whom the request is, 1 to 128 visible ASCII characters. What it spends counts against the `user_limits` of the API key.
                 *     Give an opaque id: it is stored with what was spent.
                 * @example user-1017
                 */
                readonly "User-Id"?: components["parameters"]["UserId"];
            };
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateScheduleRequest"];
                readonly "application/merge-patch+json": components["schemas"]["UpdateScheduleRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Schedule"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listScheduleRuns: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of runs. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScheduleRunListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listNextRuns: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The most times.
                 * @example 3
                 */
                readonly count?: number;
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The next times. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NextRunsResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly decideSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the relayer. An unknown id is Not found.
                 * @example local-1
                 */
                readonly relayer_id: components["parameters"]["RelayerId"];
                /**
                 * @description Id of the schedule. An unknown id is Not found.
                 * @example 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44
                 */
                readonly schedule_id: components["parameters"]["ScheduleId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ScheduleDecision"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Schedule"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["ForbiddenToDecide"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["AlreadyDecided"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listNotifications: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of notifications. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["UnauthorizedOrInsufficientScope"];
            readonly 500: components["responses"]["InternalServerError"];
        };
    };
    readonly createNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateNotificationRequest"];
            };
        };
        readonly responses: {
            /** @description The notification. */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The notification. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updateNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateNotificationRequest"];
                readonly "application/merge-patch+json": components["schemas"]["UpdateNotificationRequest"];
            };
        };
        readonly responses: {
            /** @description The notification as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listEvents: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The number of the last event that you know. If `0` or absent, the list begins with the oldest stored event.
                 * @example 1204
                 */
                readonly after?: components["parameters"]["After"];
                /**
                 * @description Only events about this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["parameters"]["EventRelayer"];
                /**
                 * @description Only events about this transaction: its whole history, as far as the service keeps events.
                 * @example 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11
                 */
                readonly transaction_id?: components["schemas"]["Id"];
                /**
                 * @description Only events of this type. Case-insensitive.
                 * @example transaction_update
                 */
                readonly type?: components["parameters"]["EventType"];
                /**
                 * @description The maximum number of events in one response. Above 100 is served as 100; large events can make it fewer.
                 * @example 50
                 */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The events after the cursor. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EventListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listAlerts: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of alerts. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AlertListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly streamEvents: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The number of the last event that you know; `0` for all stored ones. Without it and `Last-Event-ID`, the stream begins with the next
                 *     event.
                 * @example 1204
                 */
                readonly after?: components["schemas"]["EventNumber"];
                /**
                 * @description Only events about this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["parameters"]["EventRelayer"];
                /**
                 * @description Only events of this type. Case-insensitive.
                 * @example transaction_update
                 */
                readonly type?: components["parameters"]["EventType"];
                /**
                 * @description The stream ends after this many seconds. With 0 it ends after the stored events. If absent, it does not end.
                 * @example 0
                 */
                readonly duration?: number;
            };
            readonly header?: {
                /**
                 * @description Number of the last received event. Takes precedence over `after`.
                 * @example 1204
                 */
                readonly "Last-Event-ID"?: components["schemas"]["EventNumber"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The stream. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": components["schemas"]["StreamedEvent"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createStreamTicket: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateStreamTicketRequest"];
            };
        };
        readonly responses: {
            /** @description The ticket. The service shows it here and never again. */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StreamTicketResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listDeliveries: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
                /**
                 * @description Only deliveries with this status. Case-insensitive.
                 * @example dead
                 */
                readonly status?: components["schemas"]["DeliveryStatus"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of deliveries. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeliveryListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
                /**
                 * @description Id of the delivery. A delivery of another notification is Not found.
                 * @example 01a3c2f4-77aa-8c10-8000-0000000004b4
                 */
                readonly delivery_id: components["parameters"]["DeliveryId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The delivery. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeliveryResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly redeliverDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
                /**
                 * @description Id of the delivery. A delivery of another notification is Not found.
                 * @example 01a3c2f4-77aa-8c10-8000-0000000004b4
                 */
                readonly delivery_id: components["parameters"]["DeliveryId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The delivery as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeliveryResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly redeliverDeliveries: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RedeliverManyRequest"];
            };
        };
        readonly responses: {
            /** @description The number of deliveries that are sent again. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedeliverManyResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly sendTestEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The id of the event. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TestEventResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly pauseNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The notification as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly resumeNotification: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The notification as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NotificationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly rotateSigningKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the notification. An unknown id is Not found.
                 * @example ops
                 */
                readonly notification_id: components["parameters"]["NotificationId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RotateSigningKeyRequest"];
            };
        };
        readonly responses: {
            /** @description The key is in use. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SigningKeyRotationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getSpendingReport: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description The earliest time of confirmation.
                 * @example 2026-11-01T00:00:00Z
                 */
                readonly from: string;
                /**
                 * @description The end of the period, exclusive.
                 * @example 2026-12-01T00:00:00Z
                 */
                readonly to: string;
                /**
                 * @description Only transactions of this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["schemas"]["Id"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The report. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SpendingReportResponse"];
                    readonly "text/csv": components["schemas"]["SpendingReportCsv"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly exportTransactions: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only transactions with this status. Case-insensitive.
                 * @example submitted
                 */
                readonly status?: components["parameters"]["Status"];
                /**
                 * @description Only transactions of this relayer.
                 * @example local-1
                 */
                readonly relayer_id?: components["schemas"]["Id"];
                /**
                 * @description Only transactions of relayers on networks of this type.
                 * @example evm
                 */
                readonly network_type?: components["schemas"]["NetworkType"];
                /**
                 * @description Only transactions with a transfer to this account, of tokens, too, and EVM transactions that were sent to this address. On EVM the letter
                 *     case does not matter. On Solana, a token account receives tokens, unless the transaction itself opens it: then its owner does. It counts
                 *     what was requested, also before a replacement, a cancellation or a failure, and what the receipt tells.
                 * @example 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
                 */
                readonly to?: string;
                /**
                 * @description Only transactions with a transfer of this asset, as `transfers` name it: `native`, the address of a token, mint or contract, or
                 *     `CODE:ISSUER`. With `to`, the transfer is to this account.
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                readonly asset?: components["schemas"]["SpendingLimit"]["asset"];
                /**
                 * @description Only transactions with a transfer of `asset` of at least this amount, in its smallest unit.
                 * @example 1000000
                 */
                readonly min_amount?: string;
                /**
                 * @description Only transactions with a transfer of `asset` of at most this amount, in its smallest unit.
                 * @example 2000000
                 */
                readonly max_amount?: string;
                /**
                 * @description Only transactions with this `reference`.
                 * @example invoice-1017
                 */
                readonly reference?: components["schemas"]["Reference"];
                /**
                 * @description Only transactions that the API key with this id sent; `root` is the key of the environment, `service` sends top-ups.
                 * @example root
                 */
                readonly requested_by?: components["schemas"]["Id"];
                /**
                 * @description Only transactions for this user, whom the header `User-Id` of the request named.
                 * @example user-1017
                 */
                readonly user_id?: string;
                /**
                 * @description Only transactions created at or after this time.
                 * @example 2026-11-20T00:00:00Z
                 */
                readonly created_after?: string;
                /**
                 * @description Only transactions created before this time.
                 * @example 2026-11-21T00:00:00Z
                 */
                readonly created_before?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The file. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": components["schemas"]["TransactionsCsv"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getActivity: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description The earliest time of acceptance.
                 * @example 2026-11-20T00:00:00Z
                 */
                readonly from: string;
                /**
                 * @description The end of the period, exclusive.
                 * @example 2026-11-21T00:00:00Z
                 */
                readonly to: string;
                /**
                 * @description The length of a step.
                 * @example hour
                 */
                readonly step?: "hour" | "day";
                /**
                 * @description What is counted separately.
                 * @example relayer
                 */
                readonly by?: "network" | "relayer" | "api_key";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The activity. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ActivityResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listAuditEntries: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only entries of this author: the id of an API key or person, `root` for the key of the environment, `configuration` for the configuration file, `service` for the service itself, or `operator` for the command line.
                 * @example root
                 */
                readonly actor?: components["schemas"]["Id"];
                /**
                 * @description Only entries of this action, such as the `operationId` of an operation.
                 * @example updateRelayer
                 */
                readonly action?: components["schemas"]["AuditAction"];
                /**
                 * @description Only entries about records of this kind.
                 * @example relayer
                 */
                readonly target_type?: components["schemas"]["AuditTargetType"];
                /**
                 * @description Only entries about the record with this id. A network's id looks like `evm:sepolia`.
                 * @example local-1
                 */
                readonly target_id?: string;
                /**
                 * @description Only entries of the request with this `X-Request-Id`.
                 * @example 5f0c2f2e-6a0b-4a6e-9d61-4f0f6a2f9c11
                 */
                readonly request_id?: string;
                /**
                 * @description Only entries at or after this time.
                 * @example 2026-11-20T00:00:00Z
                 */
                readonly from?: string;
                /**
                 * @description Only entries before this time.
                 * @example 2026-11-21T00:00:00Z
                 */
                readonly to?: string;
                /**
                 * @description The `id` of the last entry that you have; the list begins after it. An unknown id is refused.
                 * @example relayer:local-1/20
                 */
                readonly before?: components["schemas"]["AuditEntryId"];
                /**
                 * @description The maximum number of entries in one response. Above 100 is served as 100.
                 * @example 50
                 */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The entries, newest first. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listSigners: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of signers. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateSignerRequest"];
            };
        };
        readonly responses: {
            /** @description The signer, without its key. */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the signer. An unknown id is Not found.
                 * @example hot
                 */
                readonly signer_id: components["parameters"]["SignerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The signer, without its key. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the signer. An unknown id is Not found.
                 * @example hot
                 */
                readonly signer_id: components["parameters"]["SignerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listKeyCreations: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of key creations. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyCreationListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateKeyRequest"];
            };
        };
        readonly responses: {
            /** @description The key is usable, or `detail` says what to do. */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyCreationResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly forgetKeyCreation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the signer. An unknown id is Not found.
                 * @example hot
                 */
                readonly signer_id: components["parameters"]["SignerId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is forgotten. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listNetworks: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of networks. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NetworkListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getNetwork: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
                 * @example evm:sepolia
                 */
                readonly network_id: components["parameters"]["NetworkId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The network. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NetworkResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updateNetwork: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
                 * @example evm:sepolia
                 */
                readonly network_id: components["parameters"]["NetworkId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateNetworkRequest"];
                readonly "application/merge-patch+json": components["schemas"]["UpdateNetworkRequest"];
            };
        };
        readonly responses: {
            /** @description The network as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NetworkResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly resetNetwork: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Type and name of the network, joined by a colon. Case-insensitive, unless a network has exactly this name.
                 * @example evm:sepolia
                 */
                readonly network_id: components["parameters"]["NetworkId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The network has started over. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NetworkResetResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listApiKeys: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of API keys. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        readonly responses: {
            /** @description The key with its secret. */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IssuedApiKeyResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 409: components["responses"]["Conflict"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getCurrentApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The rights of the key. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CurrentApiKeyResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listRoles: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The roles. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RoleListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listSessions: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of sessions. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SessionListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly endSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the session. An unknown id is Not found.
                 * @example 8f14e45f-ceea-467f-9a0b-3c1d2e4f5a6b
                 */
                readonly session_id: components["parameters"]["SessionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["SessionEnded"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProposals: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Only proposals in this state.
                 * @example waiting
                 */
                readonly state?: components["schemas"]["ProposalState"];
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of proposals. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProposalListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly decideProposal: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the proposal. An unknown id is Not found.
                 * @example 0f9d2b1c-5e7a-4c3d-8b6f-1a2b3c4d5e6f
                 */
                readonly proposal_id: components["parameters"]["ProposalId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ApprovalDecision"];
            };
        };
        readonly responses: {
            /** @description The proposal as it is now. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DecidedProposalResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["ForbiddenToDecide"];
            readonly 404: components["responses"]["NotFound"];
            readonly 409: components["responses"]["AlreadyDecided"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly endCurrentSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["SessionEnded"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["ApiKey"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly deleteApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is deleted. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletionResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updateApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateApiKeyRequest"];
                readonly "application/merge-patch+json": components["schemas"]["UpdateApiKeyRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["ApiKey"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getApiKeyUsage: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The id of a user. Then the response is about the `user_limits` and what this user spent.
                 * @example user-1017
                 */
                readonly user_id?: string;
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What was spent. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SpendingUsageResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly rotateApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the API key. An unknown id is Not found.
                 * @example payments
                 */
                readonly api_key_id: components["parameters"]["ApiKeyId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RotateApiKeyRequest"];
            };
        };
        readonly responses: {
            /** @description The key with its new secret. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IssuedApiKeyResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listPlugins: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description Number of the page. Pages start at 1, and 0 is served as 1. A page after the last one is empty. Numbers above 2147483647 are served as 2147483647.
                 * @example 1
                 */
                readonly page?: components["parameters"]["Page"];
                /**
                 * @description The number of items on a page. Above 100 is served as 100; 0 gives an empty list with the true `total_items`.
                 * @example 10
                 */
                readonly per_page?: components["parameters"]["PerPage"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of plugins. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PluginListResponse"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getPlugin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["Plugin"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly updatePlugin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdatePluginRequest"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["Plugin"];
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 429: components["responses"]["TooManyRequests"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly callPluginGet: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["PluginResult"];
            readonly 401: components["responses"]["PluginFailure"];
            readonly 403: components["responses"]["PluginFailure"];
            readonly 429: components["responses"]["PluginFailure"];
            readonly 503: components["responses"]["PluginFailure"];
            readonly default: components["responses"]["PluginFailure"];
        };
    };
    readonly callPlugin: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PluginParams"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["PluginResult"];
            readonly 401: components["responses"]["PluginFailure"];
            readonly 403: components["responses"]["PluginFailure"];
            readonly 429: components["responses"]["PluginFailure"];
            readonly 503: components["responses"]["PluginFailure"];
            readonly default: components["responses"]["PluginFailure"];
        };
    };
    readonly callPluginRouteGet: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
                /**
                 * @description The rest of the path, which the plugin interprets. Slashes in it may be sent as they are.
                 * @example verify
                 */
                readonly route: components["parameters"]["PluginRoute"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: components["responses"]["PluginResult"];
            readonly 401: components["responses"]["PluginFailure"];
            readonly 403: components["responses"]["PluginFailure"];
            readonly 429: components["responses"]["PluginFailure"];
            readonly 503: components["responses"]["PluginFailure"];
            readonly default: components["responses"]["PluginFailure"];
        };
    };
    readonly callPluginRoute: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description The route for the handler if the path has none.
                 * @example /verify
                 */
                readonly route?: components["parameters"]["PluginRouteQuery"];
                /**
                 * @description Any other query parameters, which the handler gets as `query`: by name, each as a list of texts.
                 * @example {
                 *       "currency": "EUR"
                 *     }
                 */
                readonly query?: components["parameters"]["PluginQuery"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Id of the plugin. An unknown id is Not found.
                 * @example payout
                 */
                readonly plugin_id: components["parameters"]["PluginId"];
                /**
                 * @description The rest of the path, which the plugin interprets. Slashes in it may be sent as they are.
                 * @example verify
                 */
                readonly route: components["parameters"]["PluginRoute"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PluginParams"];
            };
        };
        readonly responses: {
            readonly 200: components["responses"]["PluginResult"];
            readonly 401: components["responses"]["PluginFailure"];
            readonly 403: components["responses"]["PluginFailure"];
            readonly 429: components["responses"]["PluginFailure"];
            readonly 503: components["responses"]["PluginFailure"];
            readonly default: components["responses"]["PluginFailure"];
        };
    };
    readonly onTransactionUpdate: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
                /**
                 * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
                 *     hyphens, so the receiver can continue the trace.
                 * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["WebhookTraceParent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionUpdateWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
    readonly onTransactionIncident: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
                /**
                 * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
                 *     hyphens, so the receiver can continue the trace.
                 * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["WebhookTraceParent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TransactionIncidentWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
    readonly onScheduleUpdate: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
                /**
                 * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
                 *     hyphens, so the receiver can continue the trace.
                 * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["WebhookTraceParent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ScheduleUpdateWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
    readonly onRelayerStateUpdate: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
                /**
                 * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
                 *     hyphens, so the receiver can continue the trace.
                 * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["WebhookTraceParent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RelayerStateUpdateWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
    readonly onAlert: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["AlertWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
    readonly onNotificationTest: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description Base64 of the HMAC-SHA256 of the exact body with the signing key. Absent if the notification has none.
                 * @example 1ywnVkJ3cLZoKCzRmFRhNCEO7Lz6QkyaW6EFbN6yJ0s=
                 */
                readonly "X-Signature"?: components["parameters"]["XSignature"];
                /**
                 * @description The same with the previous signing key, during the overlap of a rotation.
                 * @example Tt8Zs4nNfY1zB5d0vVxk4o6bq9hUQpI2w3Jm7cKXr8A=
                 */
                readonly "X-Signature-Previous"?: components["parameters"]["XSignaturePrevious"];
                /**
                 * @description The `id` of the body; the same on every attempt.
                 * @example 7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d
                 */
                readonly "webhook-id": components["parameters"]["WebhookId"];
                /**
                 * @description When this attempt was sent, in seconds since 1970.
                 * @example 1795255200
                 */
                readonly "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /**
                 * @description One `v1,` and base64 for each key in use, with spaces between them. Absent if the notification has no signing key.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                readonly "webhook-signature"?: components["parameters"]["WebhookSignature"];
                /**
                 * @description The trace context of this attempt (W3C Trace Context), if the deployment sends traces. Its trace id is the id of the transaction without
                 *     hyphens, so the receiver can continue the trace.
                 * @example 00-0d9ad9d83f394a399a4b6a8e2c6d1a11-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["WebhookTraceParent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NotificationTestWebhook"];
            };
        };
        readonly responses: {
            readonly 410: components["responses"]["WebhookGone"];
            readonly 429: components["responses"]["WebhookLater"];
            readonly "2XX": components["responses"]["WebhookTaken"];
        };
    };
}
export interface scopes {
    readonly listMetrics: "metrics:read";
    readonly metricDetail: "metrics:read";
    readonly scrapeMetrics: "metrics:read";
    readonly listRelayers: "relayers:read";
    readonly createRelayer: "relayers:admin";
    readonly getRelayer: "relayers:read";
    readonly deleteRelayer: "relayers:admin";
    readonly updateRelayer: "relayers:write";
    readonly acceptNonces: "relayers:admin";
    readonly getRelayerStatus: "relayers:read";
    readonly getRelayerBalance: "relayers:read";
    readonly getRelayerUsage: "relayers:read";
    readonly listAbis: "relayers:read";
    readonly getAbi: "relayers:read";
    readonly registerAbi: "relayers:write";
    readonly deleteAbi: "relayers:write";
    readonly signMessage: "sign";
    readonly signTypedData: "sign";
    readonly signTransaction: "sign";
    readonly signAuthorizationEntry: "sign";
    readonly callRpc: "rpc";
    readonly searchTransactions: "transactions:read";
    readonly listTransactions: "transactions:read";
    readonly sendTransaction: "transactions:write";
    readonly sendTransactionBatch: "transactions:write";
    readonly quoteSponsoredTransaction: "transactions:write";
    readonly buildSponsoredTransaction: "transactions:write";
    readonly getTransactionByNonce: "transactions:read";
    readonly deletePendingTransactions: "transactions:write";
    readonly decideTransactions: "relayers:admin";
    readonly getTransactionById: "transactions:read";
    readonly replaceTransaction: "transactions:write";
    readonly cancelTransaction: "transactions:write";
    readonly decideTransaction: "relayers:admin";
    readonly diagnoseTransaction: "transactions:read";
    readonly getTransactionReceipt: "transactions:read";
    readonly getApproval: "transactions:read";
    readonly decideApproval: "transactions:approve";
    readonly listApprovals: "transactions:read";
    readonly listSchedules: "transactions:read";
    readonly createSchedule: "transactions:write";
    readonly getSchedule: "transactions:read";
    readonly deleteSchedule: "transactions:write";
    readonly updateSchedule: "transactions:write";
    readonly listScheduleRuns: "transactions:read";
    readonly listNextRuns: "transactions:read";
    readonly decideSchedule: "transactions:approve";
    readonly listNotifications: "notifications:read";
    readonly createNotification: "notifications:write";
    readonly getNotification: "notifications:read";
    readonly deleteNotification: "notifications:write";
    readonly updateNotification: "notifications:write";
    readonly listEvents: "events:read";
    readonly listAlerts: "events:read";
    readonly streamEvents: "events:read";
    readonly createStreamTicket: "events:read";
    readonly listDeliveries: "notifications:read";
    readonly getDelivery: "notifications:read";
    readonly redeliverDelivery: "notifications:write";
    readonly redeliverDeliveries: "notifications:write";
    readonly sendTestEvent: "notifications:write";
    readonly pauseNotification: "notifications:write";
    readonly resumeNotification: "notifications:write";
    readonly rotateSigningKey: "notifications:write";
    readonly getSpendingReport: "transactions:read";
    readonly exportTransactions: "transactions:read";
    readonly getActivity: "transactions:read";
    readonly listAuditEntries: "audit:read";
    readonly listSigners: "signers:read";
    readonly createSigner: "signers:admin";
    readonly getSigner: "signers:read";
    readonly deleteSigner: "signers:admin";
    readonly listKeyCreations: "signers:read";
    readonly createKey: "signers:create-keys";
    readonly forgetKeyCreation: "signers:create-keys";
    readonly listNetworks: "networks:read";
    readonly getNetwork: "networks:read";
    readonly updateNetwork: "networks:admin";
    readonly resetNetwork: "networks:admin";
    readonly listApiKeys: "api-keys:read";
    readonly createApiKey: "api-keys:admin";
    readonly listSessions: "api-keys:read";
    readonly endSession: "api-keys:admin";
    readonly getApiKey: "api-keys:read";
    readonly deleteApiKey: "api-keys:admin";
    readonly updateApiKey: "api-keys:admin";
    readonly getApiKeyUsage: "api-keys:read";
    readonly rotateApiKey: "api-keys:admin";
    readonly listPlugins: "plugins:read";
    readonly getPlugin: "plugins:read";
    readonly updatePlugin: "plugins:admin";
    readonly callPluginGet: "plugins:call";
    readonly callPlugin: "plugins:call";
    readonly callPluginRouteGet: "plugins:call";
    readonly callPluginRoute: "plugins:call";
}
