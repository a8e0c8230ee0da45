// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Stand-ins by the interfaces of the contracts that the plugin knows. They are written for tests alone.

/// A contract behind forwarders of ERC-2771 that is also the target of batches.
contract Counter {
    address public immutable forwarder;
    mapping(address => uint256) public counts;
    event Counted(address indexed by, uint256 count);

    constructor(address forwarder_) { forwarder = forwarder_; }

    function isTrustedForwarder(address asked) public view returns (bool) { return asked == forwarder; }

    function sender() internal view returns (address) {
        if (msg.sender == forwarder && msg.data.length >= 20) return address(bytes20(msg.data[msg.data.length - 20:]));
        return msg.sender;
    }

    function increment() external {
        counts[sender()] += 1;
        emit Counted(sender(), counts[sender()]);
    }

    function incrementSilently() external { counts[sender()] += 1; }

    function fail() external pure { revert("it fails"); }

    /// Nodes simulate with a price of 0 for gas, and blocks never do.
    function failInBlock() external {
        if (tx.gasprice > 0) revert("not in a block");
        counts[sender()] += 1;
    }

    /// Uses all gas in a block.
    function burnInBlock() external {
        if (tx.gasprice > 0) while (true) counts[address(0)] += 1;
        counts[sender()] += 1;
    }

    /// Reverts with one word, which looks like an id.
    function failWithWord() external pure {
        assembly { mstore(0, not(0)) revert(0, 32) }
    }

    /// As OpenZeppelin's Multicall was before it appended the sender.
    function multicall(bytes[] calldata data) external {
        for (uint256 i; i < data.length; i++) {
            (bool ok,) = address(this).delegatecall(data[i]);
            require(ok, "inner");
        }
    }
}

library Signatures {
    function recover(bytes32 hash, bytes memory signature) internal pure returns (address) {
        require(signature.length == 65, "signature");
        bytes32 r; bytes32 s; uint8 v;
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        address signer = ecrecover(hash, v, r, s);
        require(signer != address(0), "signature");
        return signer;
    }

    function typed(bytes32 domain, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function domainOf(string memory name, string memory version, address account) internal view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, account
        ));
    }
}

/// By the interface of thirdweb's Forwarder: it reverts where the call of the user fails.
contract RevertingForwarder {
    struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; }
    mapping(address => uint256) public getNonce;

    function execute(ForwardRequest calldata req, bytes calldata signature) external payable returns (bool, bytes memory) {
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("GSNv2 Forwarder", "0.0.1", address(this)),
            keccak256(abi.encode(
                keccak256("ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data)"),
                req.from, req.to, req.value, req.gas, req.nonce, keccak256(req.data)
            ))
        );
        require(Signatures.recover(hash, signature) == req.from && getNonce[req.from] == req.nonce, "signature");
        getNonce[req.from] = req.nonce + 1;
        (bool ok, bytes memory result) = req.to.call{gas: req.gas, value: req.value}(abi.encodePacked(req.data, req.from));
        require(ok, "reverted silently");
        assert(gasleft() > req.gas / 63);
        return (ok, result);
    }
}

/// By the interface of thirdweb's ForwarderChainlessDomain: the chain is in the request, and a failed call does not revert.
contract ChainlessForwarder {
    struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 chainid; }
    mapping(address => uint256) public getNonce;

    function execute(ForwardRequest calldata req, bytes calldata signature) external payable returns (bool, bytes memory) {
        require(req.chainid == block.chainid, "chain");
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,address verifyingContract)"),
            keccak256("GSNv2 Forwarder"), keccak256("0.0.1"), address(this)
        ));
        bytes32 hash = Signatures.typed(domain, keccak256(abi.encode(
            keccak256("ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data,uint256 chainid)"),
            req.from, req.to, req.value, req.gas, req.nonce, keccak256(req.data), req.chainid
        )));
        require(Signatures.recover(hash, signature) == req.from && getNonce[req.from] == req.nonce, "signature");
        getNonce[req.from] = req.nonce + 1;
        (bool ok, bytes memory result) = req.to.call{gas: req.gas, value: req.value}(abi.encodePacked(req.data, req.from));
        assert(gasleft() > req.gas / 63);
        return (ok, result);
    }
}

struct Call { address to; uint256 value; bytes data; }

library Calls {
    bytes32 constant CALL = keccak256("Call(address to,uint256 value,bytes data)");
    bytes32 constant TARGET_CALL = keccak256("Call(address target,uint256 value,bytes data)");

    function hashOf(Call[] memory calls, bytes32 typeHash) internal pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i; i < calls.length; i++)
            hashes[i] = keccak256(abi.encode(typeHash, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        return keccak256(abi.encodePacked(hashes));
    }

    function run(Call[] memory calls) internal {
        for (uint256 i; i < calls.length; i++) {
            address to = calls[i].to == address(0) ? address(this) : calls[i].to;
            (bool ok, bytes memory result) = to.call{value: calls[i].value}(calls[i].data);
            if (!ok) assembly { revert(add(result, 32), mload(result)) }
        }
    }
}

/// By the interface of Gelato's delegation.
contract GelatoAccount {
    mapping(uint192 => uint64) sequences;

    function getNonce(uint192 key) public view returns (uint256) { return (uint256(key) << 64) | sequences[key]; }

    function execute(bytes32 mode, bytes calldata executionData) external payable {
        (Call[] memory calls, bytes memory opData) = abi.decode(executionData, (Call[], bytes));
        require(mode == 0x0100000000007821000100000000000000000000000000000000000000000000, "mode");
        uint192 key;
        bytes memory signature = new bytes(opData.length - 24);
        assembly { key := shr(64, mload(add(opData, 32))) }
        for (uint256 i; i < signature.length; i++) signature[i] = opData[i + 24];
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("GelatoDelegation", "0.0.1", address(this)),
            keccak256(abi.encode(
                keccak256("Execute(bytes32 mode,Call[] calls,uint256 nonce)Call(address to,uint256 value,bytes data)"),
                mode, Calls.hashOf(calls, Calls.CALL), getNonce(key)
            ))
        );
        sequences[key] += 1;
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(calls);
    }

    receive() external payable {}
}

/// By the interface of Uniswap's Calibur.
contract CaliburAccount {
    struct BatchedCall { Call[] calls; bool revertOnFailure; }
    struct SignedBatchedCall { BatchedCall batchedCall; uint256 nonce; bytes32 keyHash; address executor; uint256 deadline; }
    bytes32 constant BATCHED = keccak256("BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)");
    bytes32 constant SIGNED = keccak256(
        "SignedBatchedCall(BatchedCall batchedCall,uint256 nonce,bytes32 keyHash,address executor,uint256 deadline)BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)"
    );
    address immutable implementation = address(this);
    mapping(uint256 => uint64) sequences;

    function eip712Domain() public view returns (
        bytes1 fields, string memory name, string memory version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] memory extensions
    ) {
        return (0x1f, "Calibur", "1.0.0", block.chainid, address(this), bytes32(uint256(uint160(implementation))), new uint256[](0));
    }

    function execute(SignedBatchedCall memory batch, bytes memory wrappedSignature) external payable {
        require(batch.executor == address(0) || batch.executor == msg.sender, "executor");
        require(batch.deadline == 0 || block.timestamp <= batch.deadline, "deadline");
        require(batch.keyHash == 0, "key");
        uint256 key = batch.nonce >> 64;
        require(sequences[key] == uint64(batch.nonce), "nonce");
        sequences[key] += 1;
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"),
            keccak256("Calibur"), keccak256("1.0.0"), block.chainid, address(this), bytes32(uint256(uint160(implementation)))
        ));
        bytes32 batched = keccak256(abi.encode(
            BATCHED, Calls.hashOf(batch.batchedCall.calls, Calls.CALL), batch.batchedCall.revertOnFailure
        ));
        bytes32 hash = Signatures.typed(domain, keccak256(abi.encode(
            SIGNED, batched, batch.nonce, batch.keyHash, batch.executor, batch.deadline
        )));
        (bytes memory signature,) = abi.decode(wrappedSignature, (bytes, bytes));
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(batch.batchedCall.calls);
    }

    receive() external payable {}
}

/// By the interface of thirdweb's MinimalAccount.
contract ThirdwebAccount {
    struct WrappedCalls { Call[] calls; bytes32 uid; }
    mapping(bytes32 => bool) used;

    function executeWithSig(WrappedCalls calldata wrapped, bytes calldata signature) external payable {
        require(!used[wrapped.uid], "uid");
        used[wrapped.uid] = true;
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("MinimalAccount", "1", address(this)),
            keccak256(abi.encode(
                keccak256("WrappedCalls(Call[] calls,bytes32 uid)Call(address target,uint256 value,bytes data)"),
                Calls.hashOf(wrapped.calls, Calls.TARGET_CALL), wrapped.uid
            ))
        );
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(wrapped.calls);
    }

    receive() external payable {}
}

/// By the interface of Turnkey's TKGasDelegate.
contract TurnkeyAccount {
    uint128 public nonce;

    function execute(bytes calldata data) external {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(address(bytes20(data[85:105])), uint256(bytes32(data[105:137])), data[137:]);
        check(data, single(data, calls[0]));
        Calls.run(calls);
    }

    function execute(address to, uint256 value, bytes calldata data) external {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(to, value, data[85:]);
        check(data, single(data, calls[0]));
        Calls.run(calls);
    }

    function executeBatch(bytes calldata data) external {
        Call[] memory calls = abi.decode(data[85:], (Call[]));
        check(data, several(data, calls));
        Calls.run(calls);
    }

    function executeBatch(Call[] calldata calls, bytes calldata data) external {
        check(data, several(data, calls));
        Calls.run(calls);
    }

    function single(bytes calldata head, Call memory call) internal pure returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("Execution(uint128 nonce,uint32 deadline,address to,uint256 value,bytes data)"),
            uint128(bytes16(head[65:81])), uint32(bytes4(head[81:85])), call.to, call.value, keccak256(call.data)
        ));
    }

    function several(bytes calldata head, Call[] memory calls) internal pure returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("BatchExecution(uint128 nonce,uint32 deadline,Call[] calls)Call(address to,uint256 value,bytes data)"),
            uint128(bytes16(head[65:81])), uint32(bytes4(head[81:85])), Calls.hashOf(calls, Calls.CALL)
        ));
    }

    function check(bytes calldata head, bytes32 structHash) internal {
        require(block.timestamp <= uint32(bytes4(head[81:85])), "deadline");
        require(uint128(bytes16(head[65:81])) == nonce, "nonce");
        nonce += 1;
        bytes32 hash = Signatures.typed(Signatures.domainOf("TKGasDelegate", "1.1", address(this)), structHash);
        require(Signatures.recover(hash, head[0:65]) == address(this), "signature");
    }

    receive() external payable {}
}

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// The part of Permit2 with which the account itself takes what another one has signed for it.
contract SignatureTransfer {
    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct TransferDetails { address to; uint256 requestedAmount; }

    mapping(address => mapping(uint256 => bool)) public used;

    function permitTransferFrom(
        PermitTransferFrom calldata permit, TransferDetails calldata details, address owner, bytes calldata signature
    ) external {
        require(block.timestamp <= permit.deadline, "SignatureExpired");
        require(details.requestedAmount <= permit.permitted.amount, "InvalidAmount");
        require(!used[owner][permit.nonce], "InvalidNonce");
        used[owner][permit.nonce] = true;
        require(Signatures.recover(hashOf(permit), signature) == owner, "InvalidSigner");
        require(IToken(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount));
    }

    function hashOf(PermitTransferFrom calldata permit) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"), keccak256("Permit2"), block.chainid, address(this)
        ));
        bytes32 permitted = keccak256(abi.encode(
            keccak256("TokenPermissions(address token,uint256 amount)"), permit.permitted.token, permit.permitted.amount
        ));
        bytes32 typeHash = keccak256(
            "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
        );
        return Signatures.typed(domain, keccak256(abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline)));
    }
}

/// The part of a pool of Uniswap v3 that tells what its price was. Whoever moves it changes what it adds up from then on.
contract ObservedPool {
    address public token0;
    address public token1;
    int56 internal ticks;
    uint160 internal perLiquidity;
    uint256 internal last;
    uint256 internal first;
    int24 internal tick;
    uint128 internal liquidity;

    constructor(address token0_, address token1_, int24 tick_, uint128 liquidity_) {
        (token0, token1, tick, liquidity) = (token0_, token1_, tick_, liquidity_);
        // It was there a day ago.
        (first, last) = (block.timestamp - 1 days, block.timestamp - 1 days);
    }

    function move(int24 to) external {
        (ticks, perLiquidity) = sums(block.timestamp);
        (last, tick) = (block.timestamp, to);
    }

    /// Since it was moved last, the price was the same.
    function observe(uint32[] calldata secondsAgos) external view returns (int56[] memory, uint160[] memory) {
        int56[] memory ticks_ = new int56[](secondsAgos.length);
        uint160[] memory perLiquidity_ = new uint160[](secondsAgos.length);
        for (uint256 i = 0; i < secondsAgos.length; i++) {
            uint256 at = block.timestamp - secondsAgos[i];
            require(at >= first, "OLD");
            (ticks_[i], perLiquidity_[i]) = at >= last ? sums(at) : (ticks - tick0() * int56(int256(last - at)), perLiquidity - uint160((last - at) << 128) / liquidity);
        }
        return (ticks_, perLiquidity_);
    }

    function tick0() internal view returns (int56) {
        return last == first ? int56(tick) : ticks / int56(int256(last - first));
    }

    function sums(uint256 at) internal view returns (int56, uint160) {
        uint256 passed = at - last;
        return (ticks + int56(tick) * int56(int256(passed)), perLiquidity + uint160((passed << 128) / liquidity));
    }
}
