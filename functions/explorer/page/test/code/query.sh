#!/bin/sh
# One page, at most 1,000 entities. The next one begins where the headers x-ms-continuation-… say.
date=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')
key=$(printf %s "$EDGETABLE_KEY" | base64 -d | od -An -v -tx1 | tr -d ' \n')
signature=$(printf '%s\n%s' "$date" '/devstoreaccount1/devstoreaccount1/ExplorerCode()' | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
curl -sS 'http://127.0.0.1:10002/devstoreaccount1/ExplorerCode()?$filter=PartitionKey%20eq%20%27p%27%20and%20(RowKey%20ge%20%27a%27%20and%20RowKey%20lt%20%27b%27)%20and%20Name%20eq%20%27O%27%27Hara%20%22x%22%20%5C%20%C3%A9%09%24%27&$select=RowKey%2CName' \
  -H "Authorization: SharedKeyLite devstoreaccount1:$signature" \
  -H "x-ms-date: $date" -H "x-ms-version: 2019-02-02" -H "Accept: application/json;odata=minimalmetadata"
