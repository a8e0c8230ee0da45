// Sends, reads, replaces and cancels a transaction with the client that oapi-codegen generated.
package main

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"time"

	client "clients/oapicodegen"
)

const (
	relayer  = "main"
	receiver = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
	// More than a 64-bit float holds.
	value       = "1000000000000000001"
	longestWait = 30 * time.Second
)

var (
	ctx = context.Background()
	api *client.ClientWithResponses
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func require(holds bool, seen any) {
	if !holds {
		log.Output(2, fmt.Sprintf("unexpected: %v", seen))
		os.Exit(1)
	}
}

func request(value string, speed client.Speed) client.TransactionRequest {
	to := receiver
	var body client.TransactionRequest
	must(body.FromEvmTransactionRequest(client.EvmTransactionRequest{To: &to, Value: value, Speed: &speed}))
	return body
}

// The answer to a request is a transaction, or a dry run if the request asked for one; each is one of a union.
func evm(transaction interface {
	AsEvmTransaction() (client.EvmTransaction, error)
}) client.EvmTransaction {
	read, err := transaction.AsEvmTransaction()
	must(err)
	return read
}

func read(id string) client.EvmTransaction {
	answer, err := api.GetTransactionByIdWithResponse(ctx, relayer, id, nil)
	must(err)
	require(answer.JSON200 != nil, string(answer.Body))
	return evm(answer.JSON200.Data)
}

func reach(id string, status client.TransactionStatus) {
	for deadline := time.Now().Add(longestWait); read(id).Status != status; time.Sleep(50 * time.Millisecond) {
		require(time.Now().Before(deadline), "the transaction did not become "+string(status))
	}
}

func main() {
	var err error
	api, err = client.NewClientWithResponses(os.Getenv("BASE_URL"), client.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
			return nil
		}))
	must(err)

	relayers, err := api.ListRelayersWithResponse(ctx, nil)
	must(err)
	require(relayers.JSON200 != nil && len(relayers.JSON200.Data) > 0, string(relayers.Body))

	funds, err := api.GetRelayerBalanceWithResponse(ctx, relayer)
	must(err)
	balance, exact := new(big.Int).SetString(funds.JSON200.Data.Balance.String(), 10)
	require(exact && balance.BitLen() > 64, string(funds.Body))

	sending, err := api.SendTransactionWithResponse(ctx, relayer, nil, request(value, client.SafeLow))
	must(err)
	require(sending.JSON200 != nil, string(sending.Body))
	sent := evm(sending.JSON200.Data)
	require(sent.Value == value, sent.Value)
	reach(sent.Id, client.TransactionStatusSubmitted)

	replacing, err := api.ReplaceTransactionWithResponse(ctx, relayer, sent.Id, nil, request("2", client.Fastest))
	must(err)
	require(replacing.JSON200 != nil, string(replacing.Body))
	replaced := evm(replacing.JSON200.Data)
	require(replaced.Id == sent.Id && replaced.Value == "2", replaced)
	require(*replaced.Nonce == *read(sent.Id).Nonce, *replaced.Nonce)

	refused, err := api.ReplaceTransactionWithResponse(ctx, relayer, "nothing", nil, request("2", client.Fastest))
	must(err)
	require(refused.JSON404 != nil && refused.JSON404.Code == client.ErrorCodeTransactionNotFound, string(refused.Body))

	canceling, err := api.CancelTransactionWithResponse(ctx, relayer, sent.Id, nil)
	must(err)
	require(canceling.JSON200 != nil, string(canceling.Body))
	attempts := *evm(canceling.JSON200.Data).Attempts
	require(attempts[0].Kind == client.AttemptKindSend, attempts)
	fmt.Println(sent.Id)
}
